import { Event } from './audit/event.ts'
import type { Schema } from './database/database-options.ts'
import { migrations } from './migrations/index.ts'
import { AttemptCount } from './throttle/attempt-count.ts'
import { Admin } from './users/admin.ts'
import { User } from './users/user.ts'
import { UserToken } from './users/user-token.ts'
import { Device } from './web/device.ts'
import { StoredSession } from './web/stored-session.ts'

/** The entities and migrations of the site. `copy-database` needs each entity after the entities that it references. */
export const schema: Schema = {
  entities: [User, Admin, UserToken, StoredSession, Device, Event, AttemptCount],
  migrations,
}
