import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds sessions, known devices, and sign-ins that wait for a code. */
export class Sessions20261121 extends Migration {
  override up(): void {
    const { uuid, boolean, json, datetime, text, clustered } = columnTypes(this.driver)
    this.addSql(`create table sessions (
      digest ${text(43)} not null primary key,
      id ${uuid} not null,
      user_id ${uuid} not null,
      user_agent ${text(255)} not null,
      data ${json} not null,
      kept ${boolean} not null,
      created_at ${datetime} not null,
      seen_at ${datetime} not null,
      address ${text(45)} null,
      constraint sessions_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create unique index sessions_id_unique on sessions (id)')
    this.addSql('create index sessions_user_id_index on sessions (user_id)')
    this.addSql('create index sessions_seen_at_index on sessions (kept, seen_at)')
    this.addSql('create index sessions_created_at_index on sessions (kept, created_at)')
    this.addSql(`create table devices (
      digest ${text(43)} not null,
      user_id ${uuid} not null,
      seen_at ${datetime} not null,
      primary key (digest, user_id),
      constraint devices_user_id_foreign foreign key (user_id) references users (id) on delete cascade)`)
    this.addSql('create index devices_user_id_index on devices (user_id)')
    this.addSql('create index devices_seen_at_index on devices (seen_at)')
    this.addSql(`create table pending_sign_ins (
      digest ${text(43)} not null primary key,
      user_id ${uuid} not null,
      account ${text(43)} not null,
      next ${text(2048)} null,
      kept ${boolean} not null,
      expires_at ${datetime} not null,
      created_at ${datetime} not null,
      constraint pending_sign_ins_user_id_foreign foreign key (user_id) references users (id) on delete cascade) ${clustered}`)
    this.addSql('create index pending_sign_ins_user_id_index on pending_sign_ins (user_id)')
    this.addSql('create index pending_sign_ins_expires_at_index on pending_sign_ins (expires_at)')
    this.addSql('create index pending_sign_ins_created_at_index on pending_sign_ins (created_at)')
  }
}
