import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/**
 * Adds columns for counting rejected attempts of one kind, account and day in a single event. Otherwise, an attacker could
 * fill the table or hide a sign-in.
 */
export class Refusals20261126 extends Migration {
  override up(): void {
    const { text } = columnTypes(this.driver)
    this.addSql('alter table events add column times int not null default 1')
    this.addSql(`alter table events add column refusal ${text(100)} null`)
    this.addSql('create unique index events_refusal_unique on events (refusal)')
  }
}
