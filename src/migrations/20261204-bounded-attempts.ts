import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Gives the counters names that can be shared. Drops the old counts, because they count for at most a day. */
export class BoundedAttempts20261204 extends Migration {
  override up(): void {
    const { text, clustered } = columnTypes(this.driver)
    this.addSql('drop table attempts')
    this.addSql(`create table attempts (
      id ${text(40)} not null primary key,
      expires_at bigint not null,
      used int not null,
      running int not null) ${clustered}`)
    this.addSql('create index attempts_expires_at_index on attempts (expires_at)')
  }
}
