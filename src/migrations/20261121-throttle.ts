import { Migration } from '@mikro-orm/migrations'

/** What was attempted and did not succeed, and the devices that people sign in from. */
export class Throttle20261121 extends Migration {
  override up(): void {
    this.addSql(`create table attempts (
      id text not null primary key,
      action text not null,
      account text not null,
      network text not null,
      device text null,
      at bigint not null,
      pending integer not null)`)
    this.addSql('create index attempts_account_index on attempts (action, account, at)')
    this.addSql('create index attempts_network_index on attempts (action, network, at)')
    this.addSql('create index attempts_at_index on attempts (at)')
    this.addSql(`create table devices (
      digest text not null,
      user_id text not null,
      seen_at datetime not null,
      primary key (digest, user_id),
      constraint devices_user_id_foreign foreign key (user_id) references users (id) on delete cascade)`)
    this.addSql('create index devices_user_id_index on devices (user_id)')
  }
}
