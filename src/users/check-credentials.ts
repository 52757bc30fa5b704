import type { EntityManager } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { entityManager, type ModelOptions } from '#auth/mikro-orm'
import { credentialCheck } from './credential-check.ts'
import { classOf, type HashHolder, renewHash } from './stored-hash.ts'

interface Account extends HashHolder {
  readonly passwordChangedAt: Date
}

/**
 * Finds the account that the credentials are right for, inside the check that stands around every password. If it is one,
 * and the cost of hashing has been changed, its password is then hashed anew.
 *
 * @param find the layer's check, of the model itself
 */
export async function checkCredentials<Found extends Account>(
  kind: 'user' | 'admin',
  { username, password }: PasswordCredentials,
  {
    ctx,
    options,
    find,
  }: { ctx: AuthContext; options?: ModelOptions | undefined; find: () => Promise<Found | undefined> },
): Promise<Found | undefined> {
  const em = entityManager(ctx, options?.database)
  const found = await credentialCheck(ctx, { kind, username }, async () => {
    const account = await find()
    return account && (await isUnchanged(em, account)) ? account : undefined
  })
  if (found) await renewHash(em, found, password)
  return found
}

// A check may take seconds: whoever knows the old password could always have one under way, and come in behind the very
// change that is to keep them out.
async function isUnchanged(em: EntityManager, account: Account): Promise<boolean> {
  const { id, passwordChangedAt } = account
  return (await em.count(classOf(account), { id, passwordChangedAt })) === 1
}
