import assert from 'node:assert/strict'
import { hotp, stepAt } from '../account/second-factor/totp.ts'
import { TotpFactor } from '../account/second-factor/totp-factors.ts'
import { StoredSession } from '../account/sessions/stored-session.ts'
import { type AnySite, type Person, signIn } from './people.ts'
import type { Site } from './site.ts'
import type { Visitor } from './visitor.ts'

/** The authenticator app of a user, and the recovery codes. */
interface App {
  readonly key: Buffer
  readonly recoveryCodes: readonly string[]
  /** The visitor whose session turned the app on. */
  readonly visitor: Visitor
  /** A code that was not used before, valid for at least 30 seconds. A second code is valid too, and a third one 30 seconds later. */
  nextCode(): string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Turns on an authenticator app with the API. Without access to the database, only one code is valid afterwards. */
export async function turnOnApp(site: AnySite & Partial<Site>, person: Person): Promise<App> {
  const visitor = await signIn(site, person)
  const { record } = await visitor.json('/account/security/totp', {})
  const key = fromBase32(String(record.secret))
  let step = 0
  const nextCode = () => {
    step = Math.max(step + 1, stepAt(Date.now()))
    return hotp(key, step)
  }
  const confirmed = await visitor.json('/account/security/totp/confirm', { code: nextCode() })
  assert.equal(confirmed.status, 200, confirmed.text)
  if (site.orm) {
    await site.orm.em.fork().nativeUpdate(TotpFactor, { user: person.id }, { lastStep: 0 })
    step = 0
  }
  return { key, recoveryCodes: confirmed.record.recoveryCodes as string[], visitor, nextCode }
}

/** Decodes base32 (RFC 4648 §6), independently of the encoder of the site. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Makes the sign-ins of all users eleven minutes old, so that their sessions are no longer fresh. */
export async function ageSessions({ orm }: Pick<Site, 'orm'>): Promise<void> {
  const em = orm.em.fork()
  for (const session of await em.find(StoredSession, {}, { filters: false })) {
    const key = 'user:authenticated'
    const before = session.data[key]
    if (typeof before !== 'object') continue
    session.data = { ...session.data, [key]: { ...before, at: Date.now() - 11 * 60_000 } }
  }
  await em.flush()
}
