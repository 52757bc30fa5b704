import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import { clockSkew } from '../../database/future-time.ts'
import { UsedChallenge } from './used-challenge.ts'

/** The time that a browser has for an answer, in milliseconds. */
export const challengeLifetime = 5 * 60_000

/** What a challenge is for. */
export interface Ceremony {
  readonly purpose: 'sign-in' | 'add' | 'confirm'
  /** Identifies the browser: the value of a cookie, or the digest of the session. An empty text matches nothing. */
  readonly binding: string
}

const randomLength = 16
const expiryLength = 6
const signedLength = randomLength + expiryLength

/**
 * Makes a challenge without storing it: 16 random bytes, the expiry, and a signature of both with the purpose and the
 * browser. A visitor's page therefore costs no statement. In base64url.
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
 * @returns whether it is valid for this ceremony. Of concurrent calls, one gets `true`
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
  // Kept a little longer, because another process may have a slower clock.
  const dates = { createdAt: new Date(now), expiresAt: new Date(expiry + clockSkew) }
  try {
    await em.insert(UsedChallenge, { digest, ...dates })
    return true
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return false
    throw error
  }
}

/** The expiry of a challenge, or `undefined` if its signature does not match the ceremony. */
function expiryOf(key: Buffer, challenge: string, ceremony: Ceremony): number | undefined {
  // 54 bytes have one spelling of 72 characters, so a challenge cannot be spelled in a second way to use it again.
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
