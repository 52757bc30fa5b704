import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds authenticator apps, recovery codes, and sign-ins that wait for a code. */
export class SecondFactors20261201 extends Migration {
  override up(): void {
    const { uuid, boolean, datetime, text, clustered } = columnTypes(this.driver)
    const user = (table: string) =>
      `constraint ${table}_user_id_foreign foreign key (user_id) references users (id) on delete cascade`
    this.addSql(`alter table users add column second_factor_at ${datetime} null`)
    this.addSql(`alter table admins add column second_factor_at ${datetime} null`)
    this.addSql(`create table totp_factors (
      user_id ${uuid} not null primary key,
      secret ${text(200)} not null,
      last_step integer not null,
      confirmed_at ${datetime} null,
      created_at ${datetime} not null,
      constraint totp_factors_user_id_foreign foreign key (user_id) references users (id)
        on update cascade on delete cascade) ${clustered}`)
    this.addSql(`create table recovery_codes (
      digest ${text(43)} not null primary key,
      user_id ${uuid} not null,
      created_at ${datetime} not null,
      ${user('recovery_codes')}) ${clustered}`)
    this.addSql('create index recovery_codes_user_id_index on recovery_codes (user_id)')
    this.addSql(`create table pending_sign_ins (
      digest ${text(43)} not null primary key,
      user_id ${uuid} not null,
      account ${text(43)} not null,
      next ${text(2048)} null,
      kept ${boolean} not null,
      expires_at ${datetime} not null,
      created_at ${datetime} not null,
      ${user('pending_sign_ins')}) ${clustered}`)
    this.addSql('create index pending_sign_ins_user_id_index on pending_sign_ins (user_id)')
    this.addSql('create index pending_sign_ins_expires_at_index on pending_sign_ins (expires_at)')
    this.addSql('create index pending_sign_ins_created_at_index on pending_sign_ins (created_at)')
  }
}
