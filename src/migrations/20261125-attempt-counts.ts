import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Replaces the rows of attempts by counters for time windows. Drops the old rows, because they count for at most a day. */
export class AttemptCounts20261125 extends Migration {
  override up(): void {
    const { text, clustered } = columnTypes(this.driver)
    this.addSql('drop table attempts')
    this.addSql(`create table attempts (
      id ${text(40)} not null primary key,
      counter ${text(22)} not null,
      account ${text(22)} null,
      at bigint not null,
      expires_at bigint not null,
      used int not null,
      running int not null) ${clustered}`)
    this.addSql('create index attempts_counter_index on attempts (counter)')
    this.addSql('create index attempts_expires_at_index on attempts (expires_at)')
    this.addSql('create index attempts_at_index on attempts (at)')
  }
}
