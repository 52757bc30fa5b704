import type { EntityManager } from '@mikro-orm/core'
import { credentialsSent } from '#auth'
import { Refusal } from '../../refusal.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { changeCredentials } from '../../users/change-credentials.ts'
import { User } from '../../users/user.ts'
import { Device } from '../devices/devices.ts'
import { type Notice, notify } from '../notify.ts'
import type { Services } from '../services.ts'
import { changeAccount } from '../sessions/change-account.ts'
import { renewSession } from '../sessions/current-session.ts'
import { StoredSession } from '../sessions/stored-session.ts'
import { RecoveryCode, replaceRecoveryCodes } from './recovery-codes.ts'
import type { SecretBox } from './secret-box.ts'
import { startTotp, TotpFactor, useTotpCode } from './totp-factors.ts'

const appAdded: Notice = {
  subject: 'An authenticator app was added',
  text: 'An authenticator app was added to your account. A sign-in with the password now also needs a code of the app. All other sessions have ended.',
  needsOperator: true,
}
const appRemoved: Notice = {
  subject: 'Your authenticator app was removed',
  text: 'The authenticator app and the recovery codes of your account were removed. The password is enough to sign in now.',
}
const codesReplaced: Notice = {
  subject: 'Your recovery codes were replaced',
  text: 'New recovery codes were created for your account. The old ones no longer work.',
}

/** Starts the set-up of an authenticator app, and returns its new key. Throws 409 if the account has an app. */
export function startSetUp(services: Services, ctx: SiteContext): Promise<Buffer> {
  return changeAccount(ctx, (em, user) => startTotp(em, boxForSetUp(services, user), user.id))
}

/**
 * Turns the second factor on if the code is right. Ends all other sessions, and deletes the known devices. The session of this request
 * gets a new identifier.
 *
 * @returns the recovery codes; `undefined` for a wrong code
 */
export async function turnOn(
  services: Services,
  ctx: SiteContext,
  code: string,
): Promise<string[] | undefined> {
  const user = ctx.auth.require(User)
  const secondFactorAt = new Date()
  const codes = await changeAccount(ctx, async (em) => {
    const box = boxForSetUp(services, user)
    if (!(await useTotpCode(em, box, { user: user.id, code, isSetUp: true }))) return undefined
    await changeCredentials(em, user.id, { secondFactorAt })
    await em.nativeDelete(StoredSession, { user: user.id })
    // Each known device has its own limit of guesses, and a thief of the password could have added a device.
    await em.nativeDelete(Device, { user: user.id })
    await notify(services, ctx, em, user, appAdded)
    return replaceRecoveryCodes(em, user.id)
  })
  if (!codes) return undefined
  user.secondFactorAt = secondFactorAt
  // `SessionStore.start` compares the version with the account row.
  user.credentialsVersion += 1
  if (!credentialsSent(ctx)) {
    renewSession(ctx, user, ['otp', 'mfa'])
    await services.guessing?.devices.remember(ctx, user)
  }
  return codes
}

/** Turns the second factor off, and deletes the recovery codes. */
export function turnOff(services: Services, ctx: SiteContext): Promise<void> {
  return changeAccount(ctx, async (em, user) => {
    await removeSecondFactor(em, user.id)
    await notify(services, ctx, em, user, appRemoved)
  })
}

/** Replaces the recovery codes, and returns them. Throws 409 without an authenticator app. */
export function newRecoveryCodes(services: Services, ctx: SiteContext): Promise<string[]> {
  return changeAccount(ctx, async (em, user) => {
    if (!user.secondFactorAt) throw new Refusal(409, 'Set up an authenticator app first.')
    await notify(services, ctx, em, user, codesReplaced)
    return replaceRecoveryCodes(em, user.id)
  })
}

/** Deletes the app and the recovery codes of an account. Call it with the account locked. Returns whether the account had an app. */
export async function removeSecondFactor(em: EntityManager, user: string): Promise<boolean> {
  const apps = await em.count(User, { id: user, secondFactorAt: { $ne: null } }, { filters: false })
  await changeCredentials(em, user, { secondFactorAt: null })
  await em.nativeDelete(TotpFactor, { user }, { filters: false })
  await em.nativeDelete(RecoveryCode, { user }, { filters: false })
  return apps === 1
}

function boxForSetUp({ secretBox }: Services, { secondFactorAt }: User): SecretBox {
  if (!secretBox) throw new Refusal(404, 'This site has no authenticator apps.')
  if (secondFactorAt) throw new Refusal('second_factor_exists', 'You already have an authenticator app.')
  return secretBox
}
