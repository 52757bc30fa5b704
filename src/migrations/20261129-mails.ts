import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds the outbox of mails. */
export class Mails20261129 extends Migration {
  override up(): void {
    const { uuid, json, datetime, text, clustered } = columnTypes(this.driver)
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
