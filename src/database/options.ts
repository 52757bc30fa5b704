import { defineConfig, type Options } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { Event } from '../audit/event.ts'
import { migrations } from '../migrations/index.ts'
import { Attempt } from '../throttle/attempt.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import { UserToken } from '../users/user-token.ts'
import { Device } from '../web/device.ts'
import { StoredSession } from '../web/stored-session.ts'
import { PatientSqliteDriver } from './patient-sqlite.ts'

/** MikroORM's options for a database URL: entities, migrations and the driver. */
export function databaseOptions(databaseUrl: string): Partial<Options> {
  return defineConfig({
    driver: PatientSqliteDriver,
    dbName: databaseUrl.replace(/^sqlite:/, ''),
    entities: [User, UserToken, Admin, StoredSession, Device, Event, Attempt],
    extensions: [Migrator],
    migrations: {
      path: `${import.meta.dirname}/../migrations`,
      migrationsList: migrations,
      snapshot: false,
      silent: true,
    },
    // Neither statements nor their values go to the log.
    debug: false,
  })
}
