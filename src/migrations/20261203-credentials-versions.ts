import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/**
 * Adds the version of an account's credentials, which replaces digests of times. A pending sign-in no longer stores the path after
 * the sign-in, which may contain the token of a link. Pending sign-ins last ten minutes, so their table is created again.
 */
export class CredentialsVersions20261203 extends Migration {
  override up(): void {
    const { uuid, boolean, datetime, text, clustered } = columnTypes(this.driver)
    this.addSql('alter table users add column credentials_version integer not null default 0')
    this.addSql('alter table admins add column credentials_version integer not null default 0')
    this.addSql('alter table one_time_tokens drop column account')
    this.addSql('drop table pending_sign_ins')
    this.addSql(`create table pending_sign_ins (
      digest ${text(43)} not null primary key,
      user_id ${uuid} not null,
      credentials_version integer not null,
      kept ${boolean} not null,
      expires_at ${datetime} not null,
      created_at ${datetime} not null,
      constraint pending_sign_ins_user_id_foreign foreign key (user_id) references users (id)
        on delete cascade) ${clustered}`)
    this.addSql('create index pending_sign_ins_user_id_index on pending_sign_ins (user_id)')
    this.addSql('create index pending_sign_ins_expires_at_index on pending_sign_ins (expires_at)')
    this.addSql('create index pending_sign_ins_created_at_index on pending_sign_ins (created_at)')
  }
}
