import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabaseConnection, PostgresDriver, type TransactionSettings } from 'kysely'

// In milliseconds, because a silent server does not confirm that a connection is closed.
const closeTimeout = 1_000

/** Kysely's driver for PostgreSQL, which also releases the connection of a transaction that fails to begin or to roll back. */
export class KyselyPostgresDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    try {
      await super.beginTransaction(connection, settings)
    } catch (error) {
      // The type of Kysely's connections is not exported.
      await this.releaseConnection(connection as never)
      throw error
    }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A connection that cannot roll back is broken, so the pool closes it on release, which rolls back.
    await super.rollbackTransaction(connection).catch(() => {})
  }

  override async destroy(): Promise<void> {
    await Promise.race([super.destroy(), sleep(closeTimeout, undefined, { ref: false })])
  }
}
