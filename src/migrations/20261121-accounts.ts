import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds users, admins, and their tokens. */
export class Accounts20261121 extends Migration {
  override up(): void {
    const { uuid, datetime, text, clustered } = columnTypes(this.driver)
    for (const table of ['users', 'admins']) {
      this.addSql(`create table ${table} (
        id ${uuid} not null primary key,
        name ${text(100)} not null,
        email ${text(254)} not null,
        email_key ${text(254)} not null,
        password_hash ${text(60)} not null,
        password_changed_at ${datetime} not null,
        disabled_at ${datetime} null,
        created_at ${datetime} not null,
        email_verified_at ${datetime} null,
        second_factor_at ${datetime} null) ${clustered}`)
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
      tail ${text(4)} null,
      constraint user_tokens_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index user_tokens_id_unique on user_tokens (id)')
    this.addSql('create index user_tokens_user_id_index on user_tokens (user_id, id)')
    this.addSql('create index user_tokens_expires_at_index on user_tokens (expires_at)')
    this.addSql('create index user_tokens_created_at_index on user_tokens (created_at)')
    this.addSql(`create table one_time_tokens (
      digest ${text(43)} not null primary key,
      purpose ${text(20)} not null,
      user_id ${uuid} not null,
      email ${text(254)} not null,
      account ${text(43)} not null,
      expires_at ${datetime} not null,
      created_at ${datetime} not null,
      constraint one_time_tokens_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql(
      'create unique index one_time_tokens_user_id_purpose_unique on one_time_tokens (user_id, purpose)',
    )
    this.addSql('create index one_time_tokens_expires_at_index on one_time_tokens (expires_at)')
    this.addSql('create index one_time_tokens_created_at_index on one_time_tokens (created_at)')
  }
}
