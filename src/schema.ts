import type { Schema } from './database/database-options.ts'
import { Event } from './features/activity/event.ts'
import { Device } from './features/known-devices/device.ts'
import { Passkey } from './features/passkeys/passkey.ts'
import { UsedChallenge } from './features/passkeys/used-challenge.ts'
import { PendingSignIn } from './features/second-factor/pending-sign-in.ts'
import { RecoveryCode } from './features/second-factor/recovery-code.ts'
import { TotpFactor } from './features/second-factor/totp-factor.ts'
import { StoredSession } from './features/sessions/stored-session.ts'
import { Mail } from './mail/mail.ts'
import { migrations } from './migrations/index.ts'
import { AttemptCount } from './throttle/attempt-count.ts'
import { Admin } from './users/admin.ts'
import { OneTimeToken } from './users/one-time-token.ts'
import { User } from './users/user.ts'
import { UserToken } from './users/user-token.ts'

/** The entities and migrations of the site. `copy-database` needs each entity after the entities that it references. */
export const schema: Schema = {
  entities: [
    User,
    Admin,
    UserToken,
    OneTimeToken,
    StoredSession,
    Device,
    Passkey,
    UsedChallenge,
    TotpFactor,
    RecoveryCode,
    PendingSignIn,
    Event,
    AttemptCount,
    Mail,
  ],
  migrations,
}
