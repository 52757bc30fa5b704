import type { EntityClass, EntityManager } from '@mikro-orm/core'
import { TryLater } from '../refusal.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { hashPassword, isOutdated, isUsableHash, verifyPassword } from './password.ts'

/** A row with the hash of somebody's password. */
export interface HashHolder {
  readonly id: string
  readonly passwordHash: string
}

/** Whether the password is that of the account. A hash that is damaged is nobody's, and the operator is told. */
export function isPasswordOf(
  account: HashHolder,
  password: string,
  options?: HashingOptions,
): Promise<boolean> {
  if (!isUsableHash(account.passwordHash)) {
    warn(account, 'PASSWORD_HASH_DAMAGED', 'is damaged: nobody gets in until a new password is set')
  }
  return verifyPassword(password, account.passwordHash, options)
}

/**
 * Hashes the password of somebody who has just signed in anew, if the cost has been changed since. Where that fails they
 * are signed in all the same, and the next time will do.
 */
export async function renewHash(em: EntityManager, account: HashHolder, password: string): Promise<void> {
  const { id, passwordHash } = account
  if (!isOutdated(passwordHash)) return
  try {
    const renewed = await hashPassword(password)
    // Only in place of the one that was verified: the password may have been changed meanwhile.
    await em.nativeUpdate(classOf(account), { id, passwordHash }, { passwordHash: renewed })
  } catch (error) {
    // That there is no room to hash now says nothing about this account.
    if (error instanceof TryLater) return
    // A driver's message has the statement with its values in it.
    const reason = error instanceof Error ? error.name : typeof error
    warn(account, 'PASSWORD_HASH_KEPT', `stays at its old cost: the new one could not be stored (${reason})`)
  }
}

/** The entity that the account is one of. */
export function classOf<Entity extends object>(entity: Entity): EntityClass<Entity> {
  return entity.constructor as EntityClass<Entity>
}

// The server writes the warnings of its process into the log.
function warn(account: HashHolder, code: string, what: string): void {
  process.emitWarning(`The password hash of ${account.constructor.name} ${account.id} ${what}.`, { code })
}
