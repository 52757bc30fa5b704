import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds details by which a user recognises a session, a token or an event. Older rows have no details. */
export class PageDetails20261129 extends Migration {
  override up(): void {
    const { text } = columnTypes(this.driver)
    this.addSql(`alter table sessions add column address ${text(45)} null`)
    this.addSql(`alter table user_tokens add column tail ${text(4)} null`)
    this.addSql(`alter table events add column detail ${text(255)} null`)
  }
}
