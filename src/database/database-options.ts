import { defineConfig, type EntityClass, type MigrationObject, type Options } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import type { Dialect } from './dialect.ts'

/** The tables of an application. */
export interface Schema {
  readonly entities: readonly EntityClass<object>[]
  /** All migrations, oldest first. */
  readonly migrations: readonly MigrationObject[]
}

/** Returns MikroORM's options for a dialect and a schema. */
export function databaseOptions({ options }: Dialect, { entities, migrations }: Schema): Partial<Options> {
  return defineConfig({
    ...options,
    entities: [...entities],
    extensions: [Migrator],
    migrations: { migrationsList: [...migrations], snapshot: false, silent: true },
    // The query log would contain the values of statements.
    debug: false,
  })
}
