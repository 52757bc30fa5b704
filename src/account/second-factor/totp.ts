import { createHmac, timingSafeEqual } from 'node:crypto'
import { base32 } from './base32.ts'

const stepLength = 30_000
const digits = 6

/** The code of a key for a counter: HOTP with SHA-1 and six digits (RFC 4226 §5.3). */
export function hotp(key: Uint8Array, counter: number): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const mac = createHmac('sha1', key).update(message).digest()
  const offset = mac.readUInt8(mac.length - 1) & 15
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The number of the 30-second step that contains a time in milliseconds (RFC 6238 §4.2). */
export function stepAt(time: number): number {
  return Math.floor(time / stepLength)
}

/**
 * Returns the step of a code: the current, the previous or the next step (RFC 6238 §5.2). Returns `undefined` for a wrong code. Each
 * code works once, so the steps up to `lastStep` are rejected too.
 */
export function acceptedStep(
  key: Uint8Array,
  code: string,
  { lastStep, now }: { readonly lastStep: number; readonly now: number },
): number | undefined {
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const current = stepAt(now)
  // Always computes all three codes, so that the response time does not reveal the step.
  const matches = [current - 1, current, current + 1].filter((step) =>
    timingSafeEqual(Buffer.from(hotp(key, step)), Buffer.from(code)),
  )
  return matches.filter((step) => step > lastStep).at(-1)
}

/** The content of the QR code for authenticator apps ("Key URI Format" of Google Authenticator). */
export function totpUri(
  key: Uint8Array,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): string {
  // Apps refuse a label with two colons, even encoded ones. `URLSearchParams` would encode a space as `+`, which apps display.
  const [site, user] = [issuer.replaceAll(':', ''), account].map(encodeURIComponent)
  const parameters = `secret=${base32(key)}&issuer=${site}&algorithm=SHA1&digits=${digits}&period=30`
  return `otpauth://totp/${site}:${user}?${parameters}`
}
