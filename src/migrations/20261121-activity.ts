import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds audit events, the counters of the rate limits, and the outbox of mails. */
export class Activity20261121 extends Migration {
  override up(): void {
    const { uuid, json, datetime, text, clustered } = columnTypes(this.driver)
    // `refusal` counts rejected attempts of one kind, account and day in a single event. Otherwise, an attacker could fill
    // the table or hide a sign-in.
    this.addSql(`create table events (
      id ${uuid} not null primary key,
      at ${datetime} not null,
      event ${text(40)} not null,
      user_id ${text(255)} null,
      address ${text(45)} not null,
      user_agent ${text(255)} not null,
      request ${text(36)} not null,
      times int not null default 1,
      refusal ${text(100)} null,
      detail ${text(255)} null)`)
    this.addSql('create index events_user_id_index on events (user_id, id)')
    this.addSql('create index events_at_index on events (at)')
    this.addSql('create unique index events_refusal_unique on events (refusal)')
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
    this.addSql(`create table mails (
      id ${uuid} not null primary key,
      kind ${text(40)} not null,
      address ${text(254)} not null,
      data ${json} not null,
      user_id ${uuid} null,
      created_at ${datetime} not null,
      due_at ${datetime} not null,
      tries int not null default 0,
      constraint mails_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create index mails_user_id_index on mails (user_id)')
    this.addSql('create index mails_due_at_index on mails (due_at)')
  }
}
