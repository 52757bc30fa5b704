import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver, TransactionSettings } from 'kysely'
import { CircuitBreaker } from './circuit-breaker.ts'
import {
  type ConnectionPool,
  closeClient,
  isTimeout,
  type PoolClient,
  PooledConnection,
} from './pooled-connection.ts'

const setupTimeout = 1_000
// A timeout, because a silent server does not confirm that a connection is closed.
const closeTimeout = 1_000

// The lock timeout equals the busy timeout on SQLite. An idle transaction may block other requests, so the server ends it.
const sessionSettings = `
  set lock_timeout = 2000; set statement_timeout = 2250; set idle_in_transaction_session_timeout = 5000;
  set default_transaction_isolation = 'read committed'`

export interface Pool {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/**
 * A Kysely driver for a pool of PostgreSQL connections, with a timeout on every wait: for a connection, a lock and a
 * response. Kysely's own driver leaks the connection of a transaction that fails to begin or to roll back.
 */
export class KyselyPostgresDriver implements Driver, ConnectionPool {
  /** Whether each wait has a timeout of a few seconds. Set after the migrations, which may take longer. */
  hasTimeouts = false
  readonly breaker = new CircuitBreaker()
  readonly convertError: (error: Error) => Error
  readonly #pool: Pool
  // For each connection with timeouts, the value of `breaker.openings` at its setup.
  readonly #configured = new WeakMap<PoolClient, number>()

  /** @param convertError maps errors of `pg` to MikroORM's */
  constructor(pool: Pool, convertError: (error: Error) => Error) {
    this.#pool = pool
    this.convertError = convertError
  }

  async init(): Promise<void> {}

  /** @throws if no connection is free for two seconds, the server cannot be reached, or the circuit breaker is open */
  async acquireConnection(): Promise<PooledConnection> {
    try {
      const client = await this.breaker.run(
        () => this.#connect(),
        (late) => late.release(),
      )
      return new PooledConnection(client, this)
    } catch (error) {
      throw error instanceof Error ? this.convertError(error) : error
    }
  }

  async releaseConnection(connection: PooledConnection): Promise<void> {
    connection.release()
  }

  async beginTransaction(
    connection: PooledConnection,
    { isolationLevel }: TransactionSettings,
  ): Promise<void> {
    connection.isInTransaction = true
    try {
      const sql = isolationLevel ? `begin isolation level ${isolationLevel}` : 'begin'
      await connection.executeQuery({ sql })
    } catch (error) {
      // Kysely does not release the connection of a transaction that fails to begin.
      connection.release()
      throw error
    }
  }

  async commitTransaction(connection: PooledConnection): Promise<void> {
    await connection.executeQuery({ sql: 'commit' })
    connection.isInTransaction = false
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    try {
      await connection.executeQuery({ sql: 'rollback' })
    } catch {
      // Kysely does not release the connection if this method throws. Closing the connection rolls back as well.
      connection.markBroken()
    }
    connection.isInTransaction = false
  }

  async savepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.executeQuery({ sql: `savepoint ${name}` })
  }

  async rollbackToSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.executeQuery({ sql: `rollback to ${name}` })
  }

  async releaseSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.executeQuery({ sql: `release ${name}` })
  }

  async destroy(): Promise<void> {
    await Promise.race([this.#pool.end(), sleep(closeTimeout, undefined, { ref: false })])
  }

  async #connect(): Promise<PoolClient> {
    let client: PoolClient | undefined
    try {
      client = await this.#pool.connect()
      while (this.#isStale(client)) {
        closeClient(client)
        client = await this.#pool.connect()
      }
      if (this.hasTimeouts && !this.#configured.has(client)) {
        const { openings } = this.breaker
        await client.query({ text: sessionSettings, query_timeout: setupTimeout })
        this.#configured.set(client, openings)
      }
      return client
    } catch (error) {
      if (client) closeClient(client)
      if (isTimeout(error)) this.breaker.open(error)
      throw error
    }
  }

  // After an outage, older connections may be broken, for example by a firewall. Detecting each of them would
  // take a timeout, so all older connections are closed.
  #isStale(client: PoolClient): boolean {
    return (this.#configured.get(client) ?? this.breaker.openings) < this.breaker.openings
  }
}
