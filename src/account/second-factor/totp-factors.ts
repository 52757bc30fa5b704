import { randomBytes } from 'node:crypto'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { clockSkew } from '../../durations.ts'
import { User } from '../../users/user.ts'
import type { SecretBox } from './secret-box.ts'
import { acceptedStep, stepAt } from './totp.ts'

const TotpFactorSchema = defineEntity({
  name: 'TotpFactor',
  tableName: 'totp_factors',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(false),
    // The key, encrypted by `SecretBox`.
    secret: p.string().length(200),
    // The 30-second step of the last accepted code.
    lastStep: p.integer(),
    // Null until the user has confirmed the set-up with a code.
    confirmedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
})

/** The authenticator app of a user. */
export class TotpFactor extends TotpFactorSchema.class {}

TotpFactorSchema.setClass(TotpFactor)

// 160 bits (RFC 4226 §4, R6).
const keyBytes = 20

/** How long an unfinished set-up lasts, in milliseconds. */
export const setUpLifetime = 60 * 60_000

/** Starts the set-up with a new key, which replaces the key of an unfinished set-up. Call it with the account locked. */
export async function startTotp(em: EntityManager, box: SecretBox, user: string): Promise<Buffer> {
  const key = randomBytes(keyBytes)
  await em.nativeDelete(TotpFactor, { user, confirmedAt: null })
  await em.insert(TotpFactor, {
    user,
    secret: box.encrypt(key, user),
    lastStep: 0,
    confirmedAt: null,
    createdAt: new Date(),
  })
  return key
}

/** The key of an unfinished set-up that is less than an hour old. */
export async function unconfirmedKey(
  em: EntityManager,
  box: SecretBox,
  user: string,
): Promise<Buffer | undefined> {
  const factor = await em.findOne(TotpFactor, { user, ...unfinished() }, { disableIdentityMap: true })
  return factor ? box.decrypt(factor.secret, user) : undefined
}

/**
 * Accepts a code of the authenticator app once. Only one of two concurrent calls with the same code returns `true`. During the
 * set-up, the code also confirms the app.
 */
export async function useTotpCode(
  em: EntityManager,
  box: SecretBox,
  { user, code, isSetUp = false }: { user: string; code: string; isSetUp?: boolean },
): Promise<boolean> {
  const state = isSetUp ? unfinished() : { confirmedAt: { $ne: null } }
  const factor = await em.findOne(TotpFactor, { user, ...state }, { disableIdentityMap: true })
  if (!factor) return false
  const { secret, lastStep } = factor
  const now = Date.now()
  // After the clock was ahead, the last step is in the future, and would reject all codes until then.
  const isAhead = lastStep > stepAt(now + clockSkew)
  const step = acceptedStep(box.decrypt(secret, user), code, { lastStep: isAhead ? 0 : lastStep, now })
  if (step === undefined) return false
  // The conditions prevent a race with another request that uses a code or replaces the key.
  const where = { user, secret, lastStep }
  const change = { lastStep: step, ...(isSetUp && { confirmedAt: new Date(now) }) }
  return (await em.nativeUpdate(TotpFactor, where, change)) === 1
}

function unfinished() {
  const now = Date.now()
  const createdAt = { $gt: new Date(now - setUpLifetime), $lte: new Date(now + clockSkew) }
  return { confirmedAt: null, createdAt }
}
