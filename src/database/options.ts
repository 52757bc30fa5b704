import { join } from 'node:path'
import { defineConfig, type Options } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { Event } from '../audit/event.ts'
import { home } from '../home.ts'
import { migrations } from '../migrations/index.ts'
import { Attempt } from '../throttle/attempt.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import { UserToken } from '../users/user-token.ts'
import { Device } from '../web/device.ts'
import { StoredSession } from '../web/stored-session.ts'
import { type Dialect, dialectOf } from './dialect.ts'

/** MikroORM's options for a database URL, or for a dialect that is known already: entities, migrations and the driver. */
export async function databaseOptions(database: string | Dialect): Promise<Partial<Options>> {
  const { options } = typeof database === 'string' ? await dialectOf(database) : database
  return defineConfig({
    ...options,
    entities: [User, UserToken, Admin, StoredSession, Device, Event, Attempt],
    extensions: [Migrator],
    migrations: {
      path: join(home, 'src/migrations'),
      migrationsList: migrations,
      snapshot: false,
      silent: true,
    },
    // Neither statements nor their values go to the log.
    debug: false,
  })
}
