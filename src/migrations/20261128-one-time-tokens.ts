import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds the tokens of links that work once, such as reset links. */
export class OneTimeTokens20261128 extends Migration {
  override up(): void {
    const { uuid, datetime, text, clustered } = columnTypes(this.driver)
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
