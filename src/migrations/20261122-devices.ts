import { Migration } from '@mikro-orm/migrations'

/** Adds an index for the purge of unused devices. */
export class Devices20261122 extends Migration {
  override up(): void {
    this.addSql('create index devices_seen_at_index on devices (seen_at)')
  }
}
