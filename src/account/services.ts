import type { JWTKeys } from '#auth/jwt'
import type { Outbox } from '../mail/outbox.ts'
import type { Throttle } from '../throttle/throttle.ts'
import type { AuditTrail } from './activity/audit-trail.ts'
import type { Devices } from './devices/devices.ts'
import type { Guessing } from './guessing.ts'
import type { SiteUses } from './last-uses.ts'
import type { PasskeySettings } from './passkeys/relying-party.ts'
import type { PasswordCheck } from './password-check.ts'
import type { PendingSignIns } from './second-factor/pending-sign-ins.ts'
import type { SecretBox } from './second-factor/secret-box.ts'
import type { SessionStore } from './sessions/session-store.ts'

/** What the features share. It is built once for a process, and passed to the functions that need it. */
export interface Services {
  readonly passwords: PasswordCheck
  readonly sessions: SessionStore
  readonly devices: Devices
  readonly throttle: Throttle
  readonly trail: AuditTrail
  readonly uses: SiteUses
  readonly pendingSignIns: PendingSignIns
  readonly keys: JWTKeys
  /** `undefined` with `THROTTLE=off`. */
  readonly guessing: Guessing | undefined
  /** `undefined` if the site sends no mail. */
  readonly outbox: Outbox | undefined
  /** `undefined` in production without `SECRETS_KEY`. Users cannot turn on a second factor then. */
  readonly secretBox: SecretBox | undefined
  /** `undefined` in production without `SECRETS_KEY`. The site then has no passkeys. */
  readonly passkeys: PasskeySettings | undefined
  readonly siteName: string
  /** The origin of `PUBLIC_URL`. */
  readonly publicOrigin: string | undefined
  /** Whether cookies are for TLS only. */
  readonly isTls: boolean
}
