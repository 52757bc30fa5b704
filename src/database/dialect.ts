import type { MikroORM, Options } from '@mikro-orm/core'

/** The differences between SQLite and PostgreSQL. */
export interface Dialect {
  /** MikroORM's options for the driver and the connection. */
  readonly options: Partial<Options>
  /** Takes the migration lock, which excludes other processes. Returns the function that releases it. */
  lockMigrations(orm: MikroORM): Promise<() => void | Promise<void>>
  /** Describes an error in one sentence for the operator, without secrets and SQL. */
  explain(error: unknown): string
}

/** Limits of a database connection. */
export interface DatabaseLimits {
  /** The size of the PostgreSQL connection pool. */
  readonly connections?: number | undefined
}
