import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds passkeys and the challenges that were answered. */
export class Passkeys20261202 extends Migration {
  override up(): void {
    const { uuid, boolean, datetime, text, clustered } = columnTypes(this.driver)
    this.addSql(`create table passkeys (
      id ${uuid} not null primary key,
      credential_id ${text(1364)} not null,
      user_id ${uuid} not null,
      user_handle ${text(43)} not null,
      public_key ${text(2000)} not null,
      counter bigint not null,
      transports ${text(100)} not null,
      name ${text(100)} not null,
      is_backup_eligible ${boolean} not null,
      is_backed_up ${boolean} not null,
      created_at ${datetime} not null,
      last_used_at ${datetime} null,
      constraint passkeys_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index passkeys_credential_id_unique on passkeys (credential_id)')
    this.addSql('create index passkeys_user_id_index on passkeys (user_id)')

    this.addSql(`create table used_challenges (
      digest ${text(43)} not null primary key,
      created_at ${datetime} not null,
      expires_at ${datetime} not null) ${clustered}`)
    this.addSql('create index used_challenges_expires_at_index on used_challenges (expires_at)')
    this.addSql('create index used_challenges_created_at_index on used_challenges (created_at)')
  }
}
