import type { EntityClass } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { entityManager, type ModelOptions } from '#auth/mikro-orm'
import { emailKey } from './email.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { hashDummyPassword, passwordBytes } from './password.ts'
import { type Account, renewHash } from './stored-hash.ts'

/** The account that the credentials name. It may not exist. */
export interface ClaimedAccount {
  readonly kind: 'user' | 'admin'
  readonly username: string
}

/** Limits and records the evaluation of a password. */
export type CredentialCheck = <Found>(
  ctx: AuthContext,
  claim: ClaimedAccount,
  evaluate: (options: HashingOptions) => Promise<Found | undefined>,
) => Promise<Found | undefined>

/** The context of an application with `app.context.credentialCheck = …`. */
export interface CheckedContext extends AuthContext {
  readonly credentialCheck: CredentialCheck
}

/**
 * Finds the account of credentials, inside the application's `credentialCheck`. Renews a hash with an outdated cost.
 * @throws {Error} if the application has no check, because guesses would be unlimited
 */
export async function checkCredentials<Found extends Account>(
  { model, kind }: { readonly model: EntityClass<Found>; readonly kind: ClaimedAccount['kind'] },
  { username, password }: PasswordCredentials,
  { ctx, options }: { readonly ctx: AuthContext; readonly options?: ModelOptions | undefined },
): Promise<Found | undefined> {
  const { credentialCheck } = ctx as Partial<CheckedContext>
  if (!credentialCheck) throw new Error('Set the check of passwords: `app.context.credentialCheck = …`.')
  // No account can have an ill-formed or too long password. Rejecting it needs no hash, so it is not counted as a guess.
  if (passwordBytes(password) === undefined) return undefined
  const em = entityManager(ctx, options?.database)
  const found = await credentialCheck(ctx, { kind, username }, async (hashing) => {
    const account = await em.findOne<Account>(
      model,
      { email: username },
      { populate: ['passwordHash'] as never },
    )
    if (!account) await hashDummyPassword(password, hashing)
    if (!account || !(await account.verify(password, hashing))) return undefined
    // Verification takes time, so the account may have been changed in between.
    const { id, passwordChangedAt, secondFactorAt = null } = account
    const isUnchanged = (await em.count<Account>(model, { id, passwordChangedAt, secondFactorAt })) === 1
    return isUnchanged ? (account as Found) : undefined
  })
  if (found) await renewHash(em, model, found, password)
  return found
}

/** The throttle key of an account, independent of the case of the address. */
export function accountKey({ kind, username }: ClaimedAccount): string {
  return `${kind} ${emailKey(username)}`
}
