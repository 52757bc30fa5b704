import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { defineEntity, type EntityManager, p, UniqueConstraintViolationException } from '@mikro-orm/core'
import { clockSkew } from '../../durations.ts'

const UsedChallengeSchema = defineEntity({
  name: 'UsedChallenge',
  tableName: 'used_challenges',
  properties: {
    // SHA-256 of the challenge.
    digest: p.string().length(43).primary(),
    createdAt: p.datetime().index(),
    expiresAt: p.datetime().index(),
  },
})

/** A used challenge. Its row prevents a second use. */
export class UsedChallenge extends UsedChallengeSchema.class {}

UsedChallengeSchema.setClass(UsedChallenge)

/** The time that a browser has for an answer, in milliseconds. */
export const challengeLifetime = 5 * 60_000

/** The purpose and the browser of a challenge. */
export interface Ceremony {
  readonly purpose: 'sign-in' | 'add' | 'confirm'
  /** Contains a cookie value or the digest of the session, to identify the browser. No challenge is valid for an empty string. */
  readonly binding: string
}

const randomLength = 16
const expiryLength = 6
const signedLength = randomLength + expiryLength

/**
 * Creates a challenge in base64url: 16 random bytes, the expiry, and an HMAC. The HMAC also covers the purpose and the binding.
 * The challenge is not stored, so that visitors of the sign-in page write no row.
 */
export function newChallenge(key: Buffer, ceremony: Ceremony, now = Date.now()): string {
  const signed = Buffer.alloc(signedLength)
  randomBytes(randomLength).copy(signed)
  signed.writeUIntBE(now + challengeLifetime, randomLength, expiryLength)
  return Buffer.concat([signed, sign(key, signed, ceremony)]).toString('base64url')
}

/**
 * Uses up a challenge, before the answer is verified. Call it outside a transaction, because a rollback would make the
 * challenge valid again.
 *
 * @returns whether the challenge is valid for the ceremony. Only one of several concurrent calls returns `true`
 */
export async function consumeChallenge(
  em: EntityManager,
  key: Buffer,
  challenge: string,
  ceremony: Ceremony,
  now = Date.now(),
): Promise<boolean> {
  const expiry = expiryOf(key, challenge, ceremony)
  if (expiry === undefined || expiry <= now || expiry > now + challengeLifetime + clockSkew) return false
  const digest = hash('sha256', challenge, 'base64url')
  // The row outlives the challenge, because the clock of another process may be slow.
  const dates = { createdAt: new Date(now), expiresAt: new Date(expiry + clockSkew) }
  try {
    await em.insert(UsedChallenge, { digest, ...dates })
    return true
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return false
    throw error
  }
}

/** The expiry of a challenge, or `undefined` if its HMAC does not match the ceremony. */
function expiryOf(key: Buffer, challenge: string, ceremony: Ceremony): number | undefined {
  // 54 bytes have only one encoding in base64url. With a second encoding, a challenge could be used twice.
  if (ceremony.binding === '' || !/^[\w-]{72}$/.test(challenge)) return undefined
  const bytes = Buffer.from(challenge, 'base64url')
  const signed = bytes.subarray(0, signedLength)
  if (!timingSafeEqual(bytes.subarray(signedLength), sign(key, signed, ceremony))) return undefined
  return signed.readUIntBE(randomLength, expiryLength)
}

function sign(key: Buffer, signed: Buffer, { purpose, binding }: Ceremony): Buffer {
  const mac = createHmac('sha256', key).update(`challenge ${purpose}\0`).update(signed)
  return mac.update(hash('sha256', binding, 'buffer')).digest()
}
