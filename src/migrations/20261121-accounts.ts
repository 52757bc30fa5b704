import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds users, their tokens, admins, sessions and audit events. */
export class Accounts20261121 extends Migration {
  override up(): void {
    const { uuid, boolean, json, datetime, text, clustered } = columnTypes(this.driver)
    for (const table of ['users', 'admins']) {
      this.addSql(`create table ${table} (
        id ${uuid} not null primary key,
        name ${text(100)} not null,
        email ${text(254)} not null,
        email_key ${text(254)} not null,
        password_hash ${text(60)} not null,
        password_changed_at ${datetime} not null,
        disabled_at ${datetime} null,
        created_at ${datetime} not null) ${clustered}`)
      this.addSql(`create unique index ${table}_email_unique on ${table} (email)`)
      this.addSql(`create unique index ${table}_email_key_unique on ${table} (email_key)`)
    }
    this.addSql(`create table user_tokens (
      value ${text(43)} not null primary key,
      id ${uuid} not null,
      name ${text(100)} not null,
      user_id ${uuid} not null,
      expires_at ${datetime} not null,
      last_used_at ${datetime} null,
      created_at ${datetime} not null,
      constraint user_tokens_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index user_tokens_id_unique on user_tokens (id)')
    this.addSql('create index user_tokens_user_id_index on user_tokens (user_id, id)')
    this.addSql('create index user_tokens_expires_at_index on user_tokens (expires_at)')
    this.addSql(`create table sessions (
      digest ${text(43)} not null primary key,
      id ${uuid} not null,
      user_id ${uuid} not null,
      user_agent ${text(255)} not null,
      data ${json} not null,
      kept ${boolean} not null,
      created_at ${datetime} not null,
      seen_at ${datetime} not null,
      constraint sessions_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index sessions_id_unique on sessions (id)')
    this.addSql('create index sessions_user_id_index on sessions (user_id)')
    this.addSql('create index sessions_seen_at_index on sessions (kept, seen_at)')
    this.addSql('create index sessions_created_at_index on sessions (kept, created_at)')
    this.addSql(`create table events (
      id ${uuid} not null primary key,
      at ${datetime} not null,
      event ${text(40)} not null,
      user_id ${text(255)} null,
      address ${text(45)} not null,
      user_agent ${text(255)} not null,
      request ${text(36)} not null)`)
    this.addSql('create index events_user_id_index on events (user_id, id)')
    this.addSql('create index events_at_index on events (at)')
  }
}
