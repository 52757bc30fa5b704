import { Migration } from '@mikro-orm/migrations'

/** Devices that nobody has signed in from for a year are found without reading all of them. */
export class Devices20261122 extends Migration {
  override up(): void {
    this.addSql('create index devices_seen_at_index on devices (seen_at)')
  }
}
