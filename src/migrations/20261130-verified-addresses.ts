import { Migration } from '@mikro-orm/migrations'
import { columnTypes } from './column-types.ts'

/** Adds the time at which an e-mail address was verified. Addresses of existing accounts stay unverified. */
export class VerifiedAddresses20261130 extends Migration {
  override up(): void {
    const { datetime } = columnTypes(this.driver)
    this.addSql(`alter table users add column email_verified_at ${datetime} null`)
    this.addSql(`alter table admins add column email_verified_at ${datetime} null`)
  }
}
