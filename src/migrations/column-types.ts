import { type AbstractSqlDriver, BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

const sqlite = {
  uuid: 'text',
  boolean: 'integer',
  json: 'json',
  // In UTC, with a precision of at least one millisecond.
  datetime: 'datetime',
  // Text of a maximum length, compared byte by byte. SQLite ignores a length.
  text: (_maxLength: number) => 'text',
  // A suffix of `create table` that clusters the rows by primary key. This saves SQLite a second search for a read by that key.
  clustered: 'without rowid',
}

const postgres: typeof sqlite = {
  uuid: 'uuid',
  boolean: 'boolean',
  json: 'jsonb',
  datetime: 'timestamptz',
  text: (maxLength) => `varchar(${maxLength}) collate "C"`,
  clustered: '',
}

/** Returns the column types for the database of a driver. */
export function columnTypes(driver: AbstractSqlDriver): typeof sqlite {
  return driver.getPlatform() instanceof BasePostgreSqlPlatform ? postgres : sqlite
}
