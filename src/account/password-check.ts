import type { EntityClass, EntityManager, FilterQuery } from '@mikro-orm/core'
import type { AuthContext } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { TryLater } from '../refusal.ts'
import { audit } from '../site/audit.ts'
import { Admin } from '../users/admin.ts'
import {
  hashPassword,
  isOutdated,
  isUsableHash,
  noPassword,
  passwordBytes,
  verifyPassword,
} from '../users/password.ts'
import { emailKey, User } from '../users/user.ts'
import { attemptedForm } from './attempted-form.ts'
import { limitedPassword } from './limits.ts'
import type { Services } from './services.ts'

/** What the check of a user's password has found. */
type PasswordResult =
  | { readonly outcome: 'right'; readonly user: User }
  /** The password is right, and the account has a second factor. */
  | { readonly outcome: 'needs-code'; readonly user: User }
  | { readonly outcome: 'wrong'; readonly user?: undefined }

interface Credentials {
  readonly email: string
  readonly password: string
  /** Whether the case of the address counts. Forms ignore it, as sign-up does, because phones capitalise addresses. */
  readonly match: 'exact' | 'any-case'
}

/** The part of the services that a check needs. */
type Limits = Pick<Services, 'guessing'>

/** Checks the password of a user. Every request that sends one calls it. Throws `TryLater` (429) after too many wrong passwords. */
export async function checkPassword(
  limits: Limits,
  ctx: AuthContext,
  { email, password, match }: Credentials,
): Promise<PasswordResult> {
  const where = match === 'exact' ? { email } : { emailKey: emailKey(email) }
  const user = await find(limits, ctx, { entity: User, kind: 'user', email, where }, password)
  if (!user) return { outcome: 'wrong' }
  return { outcome: user.secondFactorAt ? 'needs-code' : 'right', user }
}

/** Finds the admin with an address and a password. Throws `TryLater` (429) after too many wrong passwords. */
export function findAdmin(
  limits: Limits,
  ctx: AuthContext,
  { email, password }: Omit<Credentials, 'match'>,
): Promise<Admin | undefined> {
  return find(limits, ctx, { entity: Admin, kind: 'admin', email, where: { email } }, password)
}

interface Claim<Found extends Account> {
  readonly entity: EntityClass<Found>
  readonly kind: 'user' | 'admin'
  readonly email: string
  readonly where: FilterQuery<Account>
}

type Account = Pick<Admin, 'id' | 'email' | 'emailKey' | 'passwordHash' | 'credentialsVersion'>

async function find<Found extends Account>(
  limits: Limits,
  ctx: AuthContext,
  { entity, kind, email, where }: Claim<Found>,
  password: string,
): Promise<Found | undefined> {
  // No account can have an ill-formed or too long password. Rejecting it needs no hash, so it is not counted as a guess.
  if (passwordBytes(password) === undefined) return undefined
  const em = entityManager(ctx)
  const claim = { kind, username: email }
  const found = await limitedPassword(limits, ctx, claim, async (device) => {
    const { socket } = ctx.req
    const hashing = { isKnownDevice: device !== undefined, isDisconnected: () => socket.destroyed }
    const account = await em.findOne<Account>(entity, where, { populate: ['passwordHash'] as never })
    if (account) warnOfDamage(account)
    // Verifies a password for an unknown account too, so that the time does not reveal which accounts exist (user enumeration).
    const isRight = await verifyPassword(password, account?.passwordHash ?? noPassword, hashing)
    if (!account || !isRight) return undefined
    // Verification takes time, so the account may have been changed in between.
    const { id, credentialsVersion } = account
    const isUnchanged = (await em.count<Account>(entity, { id, credentialsVersion })) === 1
    return isUnchanged ? (account as Found) : undefined
  })
  if (found) await renewHash(em, entity, found, password)
  else audit(ctx, 'credentials refused', claim, { detail: attemptedForm(ctx) })
  return found
}

/** Hashes a verified password again if its hash has an outdated cost. Ignores a full queue, and warns of other failures. */
async function renewHash(
  em: EntityManager,
  entity: EntityClass<Account>,
  account: Account,
  password: string,
): Promise<void> {
  const { id, passwordHash } = account
  if (!isOutdated(passwordHash)) return
  try {
    const renewed = await hashPassword(password)
    // Only if the hash is still the verified one, because the password may have been changed in between.
    await em.nativeUpdate(entity, { id, passwordHash }, { passwordHash: renewed })
  } catch (error) {
    // A full queue is unrelated to this account.
    if (error instanceof TryLater) return
    // The message of a driver can contain the values of the statement.
    const reason = error instanceof Error ? error.name : typeof error
    warn(account, 'PASSWORD_HASH_KEPT', `keeps its old cost: the new hash was not stored (${reason})`)
  }
}

// A damaged hash matches no password.
function warnOfDamage(account: Account): void {
  const { passwordHash } = account
  if (!isUsableHash(passwordHash) && passwordHash !== noPassword)
    warn(account, 'PASSWORD_HASH_DAMAGED', 'is damaged: the account needs a new password')
}

// The server logs the warnings of its process.
function warn(account: Account, code: string, problem: string): void {
  process.emitWarning(`The password hash of ${account.constructor.name} ${account.id} ${problem}.`, { code })
}
