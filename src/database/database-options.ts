import {
  defineConfig,
  type EntityClass,
  type MigrationObject,
  type MikroORM,
  type Options,
} from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'

/** The differences between SQLite and PostgreSQL. */
export interface Dialect {
  /** MikroORM's options for the driver and the connection. */
  readonly options: Partial<Options>
  /** Takes the migration lock, which excludes other processes. Returns the function that releases it. */
  lockMigrations(orm: MikroORM): Promise<() => void | Promise<void>>
  /** Describes an error for the operator, without secrets and SQL. */
  explain(error: unknown): string
}

export interface Schema {
  readonly entities: readonly EntityClass<object>[]
  /** All migrations, oldest first. */
  readonly migrations: readonly MigrationObject[]
}

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
