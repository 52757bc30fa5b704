import { type AbstractSqlDriver, BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

/** The column types of a database. */
export interface ColumnTypes {
  readonly uuid: string
  readonly boolean: string
  readonly json: string
  /** In UTC, with a precision of at least one millisecond. */
  readonly datetime: string
  /** Text of a maximum length, compared byte by byte. */
  text(maxLength: number): string
  /** A suffix of `create table` that clusters the rows by primary key, which saves SQLite a second search for each read. */
  readonly clustered: string
}

const sqlite: ColumnTypes = {
  uuid: 'text',
  boolean: 'integer',
  json: 'json',
  datetime: 'datetime',
  // SQLite ignores a length.
  text: () => 'text',
  clustered: 'without rowid',
}

const postgres: ColumnTypes = {
  uuid: 'uuid',
  boolean: 'boolean',
  json: 'jsonb',
  datetime: 'timestamptz',
  text: (maxLength) => `varchar(${maxLength}) collate "C"`,
  clustered: '',
}

/** Returns the column types for the database of a driver. */
export function columnTypes(driver: AbstractSqlDriver): ColumnTypes {
  return driver.getPlatform() instanceof BasePostgreSqlPlatform ? postgres : sqlite
}
