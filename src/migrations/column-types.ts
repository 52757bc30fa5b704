import { type AbstractSqlDriver, BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

/** What a column's type is called in the SQL of a database. */
export interface ColumnTypes {
  readonly uuid: string
  readonly boolean: string
  readonly json: string
  /** To the millisecond at least, in UTC. */
  readonly datetime: string
  /** Text of at most so many characters, compared byte by byte. */
  text(most: number): string
}

const sqlite: ColumnTypes = {
  uuid: 'text',
  boolean: 'integer',
  json: 'json',
  datetime: 'datetime',
  // SQLite would not keep to a length.
  text: () => 'text',
}

const postgres: ColumnTypes = {
  uuid: 'uuid',
  boolean: 'boolean',
  json: 'jsonb',
  datetime: 'timestamptz',
  text: (most) => `varchar(${most}) collate "C"`,
}

/** The types of the database that is migrated. */
export function columnTypes(driver: AbstractSqlDriver): ColumnTypes {
  return driver.getPlatform() instanceof BasePostgreSqlPlatform ? postgres : sqlite
}
