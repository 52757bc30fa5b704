import {
  defineConfig,
  type EntityClass,
  type EntityManager,
  type MigrationObject,
  type Options,
} from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'

/** The differences between SQLite and PostgreSQL. */
export interface Dialect {
  /** MikroORM's options for the driver and the connection. */
  readonly options: Partial<Options>
  /** The options for migrations and copies, which may take or wait longer than requests. */
  readonly unlimitedOptions: Partial<Options>
  /** Lifts the time limits of the server until the end of the transaction. */
  liftTimeLimits?(em: EntityManager): Promise<void>
  /** Locks the migrations until the end of the transaction, and sets the time limits of the server. SQLite needs neither. */
  prepareMigrations?(em: EntityManager): Promise<void>
}

/** How long a statement may wait for a connection or for a lock, in milliseconds. */
export const usualTimeout = 2_000
/** How long a start waits for the migrations of other processes, in milliseconds. */
export const migrationTimeout = 8_000

export interface PoolOptions {
  /** The size of the PostgreSQL pool. */
  readonly connections?: number | undefined
  /** How long a statement may wait for a connection or for a lock, in milliseconds. By default `usualTimeout`. */
  readonly timeout?: number | undefined
}

export interface Schema {
  readonly entities: readonly EntityClass<object>[]
  /** All migrations, oldest first. */
  readonly migrations: readonly MigrationObject[]
}

export function databaseOptions(
  options: Partial<Options>,
  { entities, migrations }: Schema,
): Partial<Options> {
  return defineConfig({
    ...options,
    entities: [...entities],
    extensions: [Migrator],
    migrations: {
      migrationsList: [...migrations],
      snapshot: false,
      silent: true,
      // The only effect: the migrator creates its table in the transaction of the migrations, and not before.
      includeWildcardSchema: true,
    },
    // The query log would contain the values of statements.
    debug: false,
  })
}
