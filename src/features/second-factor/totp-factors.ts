import { randomBytes } from 'node:crypto'
import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'
import type { SecretBox } from './secret-box.ts'
import { acceptedStep, keyBytes } from './totp.ts'

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

/** Finishes the set-up with a code. Returns `false` for a wrong code. Call it with the account locked. */
export function confirmTotp(em: EntityManager, box: SecretBox, user: string, code: string): Promise<boolean> {
  return acceptCode(em, box, { user, code, isConfirmed: false })
}

/** Accepts a code of the authenticator app once. Only one of two concurrent calls with the same code returns `true`. */
export function useTotpCode(em: EntityManager, box: SecretBox, user: string, code: string): Promise<boolean> {
  return acceptCode(em, box, { user, code, isConfirmed: true })
}

async function acceptCode(
  em: EntityManager,
  box: SecretBox,
  { user, code, isConfirmed }: { user: string; code: string; isConfirmed: boolean },
): Promise<boolean> {
  const state = isConfirmed ? { confirmedAt: { $ne: null } } : unfinished()
  const factor = await em.findOne(TotpFactor, { user, ...state }, { disableIdentityMap: true })
  if (!factor) return false
  const { secret, lastStep } = factor
  const now = Date.now()
  const key = box.decrypt(secret, user)
  const step = acceptedStep(key, code, { lastStep, now })
  if (step === undefined) return false
  // The conditions prevent a race with another request that uses the same code.
  const where = { user, secret, ...state, lastStep: { $lt: step } }
  const change = { lastStep: step, ...(!isConfirmed && { confirmedAt: new Date(now) }) }
  return (await em.nativeUpdate(TotpFactor, where, change)) === 1
}

function unfinished() {
  return { confirmedAt: null, createdAt: { $gt: new Date(Date.now() - setUpLifetime) } }
}
