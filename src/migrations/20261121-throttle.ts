import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds the attempts for the rate limits, and the known devices. */
export class Throttle20261121 extends Migration {
  override up(): void {
    const { uuid, boolean, datetime, text } = columnTypes(this.driver)
    this.addSql(`create table attempts (
      id ${uuid} not null primary key,
      action ${text(255)} not null,
      account ${text(255)} not null,
      network ${text(255)} not null,
      device ${text(255)} null,
      at bigint not null,
      pending ${boolean} not null)`)
    this.addSql('create index attempts_account_index on attempts (action, account, at)')
    this.addSql('create index attempts_network_index on attempts (action, network, at)')
    this.addSql('create index attempts_at_index on attempts (at)')
    this.addSql(`create table devices (
      digest ${text(43)} not null,
      user_id ${uuid} not null,
      seen_at ${datetime} not null,
      primary key (digest, user_id),
      constraint devices_user_id_foreign foreign key (user_id) references users (id) on delete cascade)`)
    this.addSql('create index devices_user_id_index on devices (user_id)')
  }
}
