import { Event } from './account/activity/event.ts'
import { Device } from './account/devices/devices.ts'
import { UsedChallenge } from './account/passkeys/challenges.ts'
import { Passkey } from './account/passkeys/passkey.ts'
import { StoredPendingSignIn } from './account/second-factor/pending-sign-ins.ts'
import { RecoveryCode } from './account/second-factor/recovery-codes.ts'
import { TotpFactor } from './account/second-factor/totp-factors.ts'
import { StoredSession } from './account/sessions/stored-session.ts'
import type { Schema } from './database/database-options.ts'
import { ProviderFlow } from './features/providers/provider-flow.ts'
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
    StoredPendingSignIn,
    LinkedIdentity,
    ProviderFlow,
    Event,
    AttemptCount,
    Mail,
  ],
  migrations,
}
