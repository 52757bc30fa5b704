import type { EntityClass, EntityManager } from '@mikro-orm/core'
import { TryLater } from '../refusal.ts'
import { emailKey } from './email.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { hashPassword, isOutdated, isUsableHash, noPassword, verifyPassword } from './password.ts'

/** The account that the credentials name, whether it exists or not. */
export interface ClaimedAccount {
  readonly kind: 'user' | 'admin'
  readonly username: string
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
export async function renewHash(
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
