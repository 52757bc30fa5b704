import { type AbstractSqlDriver, BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

/** What a column's type is called in the SQL of a database, and a table whose rows lie in the order of their key. */
export interface ColumnTypes {
  readonly uuid: string
  readonly boolean: string
  readonly json: string
  /** To the millisecond at least, in UTC. */
  readonly datetime: string
  /** Text of at most so many characters, compared byte by byte. */
  text(most: number): string
  /**
   * Stands after the columns of a table whose rows are read by their primary key far more often than they are written: SQLite
   * would first look up a number in an index, and then the row by that.
   */
  readonly clustered: string
}

const sqlite: ColumnTypes = {
  uuid: 'text',
  boolean: 'integer',
  json: 'json',
  datetime: 'datetime',
  // SQLite would not keep to a length.
  text: () => 'text',
  clustered: 'without rowid',
}

const postgres: ColumnTypes = {
  uuid: 'uuid',
  boolean: 'boolean',
  json: 'jsonb',
  datetime: 'timestamptz',
  text: (most) => `varchar(${most}) collate "C"`,
  clustered: '',
}

/** The types of the database that is migrated. */
export function columnTypes(driver: AbstractSqlDriver): ColumnTypes {
  return driver.getPlatform() instanceof BasePostgreSqlPlatform ? postgres : sqlite
}
