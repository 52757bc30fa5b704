import type { Schema } from './database/database-options.ts'
import { Event } from './features/activity/event.ts'
import { Device } from './features/known-devices/devices.ts'
import { UsedChallenge } from './features/passkeys/challenges.ts'
import { Passkey } from './features/passkeys/passkey.ts'
import { ProviderFlow } from './features/providers/provider-flow.ts'
import { PendingSignIn } from './features/second-factor/pending-sign-ins.ts'
import { RecoveryCode } from './features/second-factor/recovery-codes.ts'
import { TotpFactor } from './features/second-factor/totp-factors.ts'
import { StoredSession } from './features/sessions/stored-session.ts'
import { Mail } from './mail/mail-queue.ts'
import { migrations } from './migrations/index.ts'
import { AttemptCount } from './throttle/attempt-count.ts'
import { Admin } from './users/admin.ts'
import { LinkedIdentity } from './users/linked-identity.ts'
import { OneTimeToken } from './users/one-time-tokens.ts'
import { User } from './users/user.ts'
import { UserToken } from './users/user-token.ts'

/**
 * The entities and migrations of the site. `copy-database` copies the entities in this order, so an entity must follow the
 * entities that it references.
 */
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
    LinkedIdentity,
    ProviderFlow,
    Event,
    AttemptCount,
    Mail,
  ],
  migrations,
}
