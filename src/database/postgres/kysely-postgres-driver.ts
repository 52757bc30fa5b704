import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DatabaseConnection,
  PostgresDriver,
  type PostgresPoolClient,
  type TransactionSettings,
} from 'kysely'
import { timed } from '../statements.ts'
import { type Pool, TimedClient } from './pool-client.ts'

// In milliseconds, because a silent server does not confirm that a connection is closed.
const closeTimeout = 1_000

/** Kysely's driver for PostgreSQL, which also releases the connection of a transaction that fails to begin or to roll back. */
export class KyselyPostgresDriver extends PostgresDriver {
  readonly #convertError: (error: Error) => Error

  /** @param convertError maps errors of `pg` to MikroORM's */
  constructor(pool: Pool, convertError: (error: Error) => Error) {
    const connect = async () => {
      const client = new TimedClient(await this.#converted(() => pool.connect()))
      const query = (text: string) => this.#converted(() => timed(() => client.query({ text })))
      // MikroORM writes the values into the statement, and the site reads with no cursor.
      return { query, release: () => client.release() } as object as PostgresPoolClient
    }
    super({ pool: { options: pool.options, connect, end: () => pool.end() } })
    this.#convertError = convertError
  }

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

  async #converted<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof Error ? this.#convertError(error) : error
    }
  }
}
