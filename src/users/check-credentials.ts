import type { EntityClass, EntityManager } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { entityManager, type ModelOptions } from '#auth/mikro-orm'
import { type Claim, credentialCheckOf } from './credential-check.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { hashDummyPassword } from './password.ts'
import { classOf, type HashHolder, renewHash } from './stored-hash.ts'

interface Account extends HashHolder {
  readonly email: string
  readonly passwordChangedAt: Date
  verify(password: string, options?: HashingOptions): Promise<boolean>
}

/**
 * Finds the account that the credentials are right for, inside the application's check. If the cost of hashing has changed,
 * the password is then hashed anew.
 */
export async function checkCredentials<Found extends Account>(
  { model, kind }: { readonly model: EntityClass<Found>; readonly kind: Claim['kind'] },
  { username, password }: PasswordCredentials,
  { ctx, options }: { readonly ctx: AuthContext; readonly options?: ModelOptions | undefined },
): Promise<Found | undefined> {
  const em = entityManager(ctx, options?.database)
  const check = credentialCheckOf(ctx)
  const found = await check(ctx, { kind, username }, async (hashing) => {
    const account = await em.findOne<Account>(model, { email: username })
    if (!account) await hashDummyPassword(password, hashing)
    const isRight = account && (await account.verify(password, hashing)) && (await isUnchanged(em, account))
    return isRight ? (account as Found) : undefined
  })
  if (found) await renewHash(em, found, password)
  return found
}

// A check takes time. An old password must not come in behind the change that ended it.
async function isUnchanged(em: EntityManager, account: Account): Promise<boolean> {
  const { id, passwordChangedAt } = account
  return (await em.count(classOf(account), { id, passwordChangedAt })) === 1
}
