import type { EntityClass, EntityManager } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { entityManager, type ModelOptions } from '#auth/mikro-orm'
import { TryLater } from '../refusal.ts'
import { emailKey } from './email.ts'
import type { HashingOptions } from './hashing-slots.ts'
import {
  hashDummyPassword,
  hashPassword,
  isOutdated,
  isUsableHash,
  noPassword,
  passwordBytes,
  verifyPassword,
} from './password.ts'

/** The account that the credentials name, whether it exists or not. */
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
    const account = await em.findOne<Account>(model, conditionOf(ctx, username), {
      populate: ['passwordHash'] as never,
    })
    if (!account) await hashDummyPassword(password, hashing)
    if (!account || !(await account.verify(password, hashing))) return undefined
    // Verification takes time, so the account may have been changed in between.
    const { id, credentialsVersion } = account
    const isUnchanged = (await em.count<Account>(model, { id, credentialsVersion })) === 1
    return isUnchanged ? (account as Found) : undefined
  })
  if (found) await renewHash(em, model, found, password)
  return found
}

/**
 * The condition for the account of a user name. Forms ignore the case of the address, as sign-up does, because phones capitalise
 * it. Basic and JSON compare exactly.
 */
function conditionOf(ctx: AuthContext, username: string) {
  const isForm = ctx.req.headers.authorization === undefined && ctx.is('urlencoded')
  return isForm ? { emailKey: emailKey(username) } : { email: username }
}

/** The throttle key of an account, independent of the case of the address. */
export function accountKey({ kind, username }: ClaimedAccount): string {
  return `${kind} ${emailKey(username)}`
}

/** An account with a password. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly emailKey: string
  readonly passwordHash: string
  readonly credentialsVersion: number
  verify(password: string, options?: HashingOptions): Promise<boolean>
}

/** Whether the password matches the hash of the account. Warns the operator of a damaged hash, which never matches. */
export function isPasswordOf(account: Account, password: string, options?: HashingOptions): Promise<boolean> {
  // The column is lazy.
  if (account.passwordHash === undefined) throw new Error('Load the password hash of this account first.')
  if (!isUsableHash(account.passwordHash) && account.passwordHash !== noPassword)
    warn(account, 'PASSWORD_HASH_DAMAGED', 'is damaged: the account needs a new password')
  return verifyPassword(password, account.passwordHash, options)
}

/** Hashes a verified password again if its hash has an outdated cost. Ignores a full queue, and warns of other failures. */
async function renewHash(
  em: EntityManager,
  model: EntityClass<Account>,
  account: Account,
  password: string,
): Promise<void> {
  const { id, passwordHash } = account
  if (!isOutdated(passwordHash)) return
  try {
    const renewed = await hashPassword(password)
    // Only if the hash is still the verified one, because the password may have been changed in between.
    await em.nativeUpdate(model, { id, passwordHash }, { passwordHash: renewed })
  } catch (error) {
    // A full queue is unrelated to this account.
    if (error instanceof TryLater) return
    // The message of a driver can contain the values of the statement.
    const reason = error instanceof Error ? error.name : typeof error
    warn(account, 'PASSWORD_HASH_KEPT', `keeps its old cost: the new hash was not stored (${reason})`)
  }
}

// The server logs the warnings of its process.
function warn(account: Account, code: string, problem: string): void {
  process.emitWarning(`The password hash of ${account.constructor.name} ${account.id} ${problem}.`, { code })
}
