import type { EntityClass, EntityManager, FilterQuery } from '@mikro-orm/core'
import type { AuthContext } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { TryLater } from '../refusal.ts'
import { audit } from '../site/audit.ts'
import { Admin } from '../users/admin.ts'
import type { HashingOptions } from '../users/hashing-slots.ts'
import {
  hashDummyPassword,
  hashPassword,
  isOutdated,
  isUsableHash,
  noPassword,
  passwordBytes,
  verifyPassword,
} from '../users/password.ts'
import { emailKey, User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'
import { type Guessing, guess } from './guessing.ts'

/** What the check of a user's password has found. */
export type PasswordResult =
  | { readonly outcome: 'right'; readonly user: User }
  /** The password is right, and the account has a second factor. */
  | { readonly outcome: 'needs-code'; readonly user: User }
  | { readonly outcome: 'wrong'; readonly user?: undefined }

export interface Credentials {
  readonly email: string
  readonly password: string
  /** Whether the case of the address counts. Forms ignore it, as sign-up does, because phones capitalise addresses. */
  readonly match: 'exact' | 'any-case'
}

/** Checks every password that a request sends. Rate limits and the audit trail apply. */
export class PasswordCheck {
  readonly #guessing: Guessing | undefined

  /** @param guessing the rate limits; `undefined` for none */
  constructor(guessing: Guessing | undefined) {
    this.#guessing = guessing
  }

  /** Checks the password of a user. Throws `TryLater` (429) after too many wrong passwords. */
  async check(ctx: AuthContext, { email, password, match }: Credentials): Promise<PasswordResult> {
    const where = match === 'exact' ? { email } : { emailKey: emailKey(email) }
    const user = await this.#find(ctx, { entity: User, kind: 'user', email, where }, password)
    if (!user) return { outcome: 'wrong' }
    return { outcome: user.secondFactorAt ? 'needs-code' : 'right', user }
  }

  /** Finds the admin with an address and a password. Throws `TryLater` (429) after too many wrong passwords. */
  findAdmin(ctx: AuthContext, { email, password }: Omit<Credentials, 'match'>): Promise<Admin | undefined> {
    return this.#find(ctx, { entity: Admin, kind: 'admin', email, where: { email } }, password)
  }

  async #find<Found extends Account>(
    ctx: AuthContext,
    { entity, kind, email, where }: Claim<Found>,
    password: string,
  ): Promise<Found | undefined> {
    // No account can have an ill-formed or too long password. Rejecting it needs no hash, so it is not counted as a guess.
    if (passwordBytes(password) === undefined) return undefined
    const em = entityManager(ctx)
    const claim = { kind, username: email }
    const found = await guess(this.#guessing, ctx, claim, async (device) => {
      const { socket } = ctx.req
      const hashing = { isKnownDevice: device !== undefined, isDisconnected: () => socket.destroyed }
      const account = await em.findOne<Account>(entity, where, { populate: ['passwordHash'] as never })
      if (!account) await hashDummyPassword(password, hashing)
      if (!account || !(await isPasswordOf(account, password, hashing))) return undefined
      // Verification takes time, so the account may have been changed in between.
      const { id, credentialsVersion } = account
      const isUnchanged = (await em.count<Account>(entity, { id, credentialsVersion })) === 1
      return isUnchanged ? (account as Found) : undefined
    })
    if (found) await renewHash(em, entity, found, password)
    else audit(ctx, 'credentials refused', claim, { detail: attemptedForm(ctx) })
    return found
  }
}

interface Claim<Found extends Account> {
  readonly entity: EntityClass<Found>
  readonly kind: 'user' | 'admin'
  readonly email: string
  readonly where: FilterQuery<Account>
}

/** An account with a password. */
interface Account {
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
