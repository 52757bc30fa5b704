import type { EntityManager } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { User } from '../../users/user.ts'
import { Device } from '../known-devices/devices.ts'
import { storeDevice } from '../known-devices/known-devices.ts'
import { notify } from '../notices/notify.ts'
import { renewSession, requireSession } from '../sessions/current-session.ts'
import { StoredSession } from '../sessions/stored-session.ts'
import { PendingSignIn } from './pending-sign-ins.ts'
import { RecoveryCode, replaceRecoveryCodes } from './recovery-codes.ts'
import type { SecretBox } from './secret-box.ts'
import { startTotp, TotpFactor, useTotpCode } from './totp-factors.ts'

/** Starts the set-up of an authenticator app, and returns its new key. Throws 409 if the account has an app. */
export function startSetUp(ctx: SiteContext): Promise<Buffer> {
  const user = ctx.auth.require(User)
  return change(ctx, user, (em) => startTotp(em, boxForSetUp(ctx, user), user.id))
}

/**
 * Turns the second factor on if the code is right. Ends all other sessions, and deletes the known devices. The session of this request
 * gets a new identifier.
 *
 * @returns the seed of the recovery codes; `undefined` for a wrong code
 */
export async function turnOn(ctx: SiteContext, code: string): Promise<string | undefined> {
  const user = ctx.auth.require(User)
  const secondFactorAt = new Date()
  const seed = await change(ctx, user, async (em) => {
    const box = boxForSetUp(ctx, user)
    if (!(await useTotpCode(em, box, { user: user.id, code, isSetUp: true }))) return undefined
    await em.nativeUpdate(User, { id: user.id }, { secondFactorAt })
    await em.nativeDelete(StoredSession, { user: user.id })
    await em.nativeDelete(PendingSignIn, { user: user.id })
    // Each known device has its own limit of guesses, and a thief of the password could have added a device.
    await em.nativeDelete(Device, { user: user.id })
    await notify(ctx, em, user, 'authenticator app turned on')
    return replaceRecoveryCodes(em, user.id)
  })
  if (seed === undefined) return undefined
  // `SessionStore.start` compares this time with the account row.
  user.secondFactorAt = secondFactorAt
  if (!ctx.auth.credentialsSent) {
    renewSession(ctx, user, ['otp', 'mfa'])
    await storeDevice(ctx, user)
  }
  return seed
}

/** Turns the second factor off, and deletes the recovery codes. */
export function turnOff(ctx: SiteContext): Promise<void> {
  const user = ctx.auth.require(User)
  return change(ctx, user, async (em) => {
    await removeSecondFactor(em, user.id)
    await notify(ctx, em, user, 'authenticator app turned off')
  })
}

/** Replaces the recovery codes, and returns their seed. Throws 409 without an authenticator app. */
export function newRecoveryCodes(ctx: SiteContext): Promise<string> {
  const user = ctx.auth.require(User)
  return change(ctx, user, async (em) => {
    if (!user.secondFactorAt) throw new Refusal(409, 'Set up an authenticator app first.')
    await notify(ctx, em, user, 'recovery codes created')
    return replaceRecoveryCodes(em, user.id)
  })
}

/** Deletes the app and the recovery codes of an account. Call it with the account locked. Returns whether the account had an app. */
export async function removeSecondFactor(em: EntityManager, user: string): Promise<boolean> {
  const hasApp = { id: user, secondFactorAt: { $ne: null } }
  const changed = await em.nativeUpdate(User, hasApp, { secondFactorAt: null }, { filters: false })
  await em.nativeDelete(TotpFactor, { user }, { filters: false })
  await em.nativeDelete(RecoveryCode, { user }, { filters: false })
  await em.nativeDelete(PendingSignIn, { user }, { filters: false })
  return changed === 1
}

function boxForSetUp({ secretBox }: SiteContext, { secondFactorAt }: User): SecretBox {
  if (!secretBox) throw new Refusal(404, 'This site has no authenticator apps.')
  if (secondFactorAt) throw new Refusal('second_factor_exists', 'You already have an authenticator app.')
  return secretBox
}

// Locks the account and the session. Throws 409 if another request has changed how the account signs in, or has ended the session.
function change<Result>(
  ctx: SiteContext,
  user: User,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return entityManager(ctx).transactional(async (em) => {
    const { id, passwordChangedAt, secondFactorAt = null } = user
    if (!(await lockAccount(em, { id, passwordChangedAt, secondFactorAt })))
      throw new Refusal(409, 'Another request has just changed how this account signs in.')
    await requireSession(em, ctx)
    return work(em)
  })
}
