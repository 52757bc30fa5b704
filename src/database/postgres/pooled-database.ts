import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver, TransactionSettings } from 'kysely'
import { cut, isTimeout, Lease, type Lender, type PoolClient } from './lease.ts'
import { Outage } from './outage.ts'

// One that has just let us in has time for this.
const longestGreeting = 1_000
// A server that is gone does not say goodbye.
const longestGoodbye = 1_000

// What is waited for: a lock as long as SQLite is waited for, an answer hardly longer. A transaction that pauses keeps
// others waiting, and is given up. Whoever reads twice in a transaction may see what was committed meanwhile.
const limits = `
  set lock_timeout = 2000; set statement_timeout = 2250; set idle_in_transaction_session_timeout = 5000;
  set default_transaction_isolation = 'read committed'`

/** What `pg` calls a pool. */
export interface Pool {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/**
 * Kysely's driver for a pool of connections to PostgreSQL, in which nobody waits for ever: neither for a connection, nor
 * for a lock, nor for a server that has fallen silent. Kysely's own would keep the connection of a transaction that fails
 * to begin or to roll back, and hand out one that has not answered yet.
 */
export class PooledDatabase implements Driver, Lender {
  readonly outage = new Outage()
  readonly convert: (error: Error) => Error
  readonly #pool: Pool
  // Connections whose waits are limited, by how many outages there had been when they were made.
  readonly #limited = new WeakMap<PoolClient, number>()
  #isLimited = false

  /** @param convert makes of the driver's errors what callers expect */
  constructor(pool: Pool, convert: (error: Error) => Error) {
    this.#pool = pool
    this.convert = convert
  }

  get isLimited(): boolean {
    return this.#isLimited
  }

  /** From now on nobody waits for more than seconds; until then, for as long as a migration may take. */
  limitWaits(): void {
    this.#isLimited = true
  }

  async init(): Promise<void> {}

  /** @throws if there is none for two seconds, or none at all */
  async acquireConnection(): Promise<Lease> {
    try {
      const client = await this.outage.wait(
        () => this.#connect(),
        (late) => late.release(),
      )
      return new Lease(client, this)
    } catch (error) {
      throw error instanceof Error ? this.convert(error) : error
    }
  }

  async releaseConnection(lease: Lease): Promise<void> {
    lease.end()
  }

  async beginTransaction(lease: Lease, { isolationLevel }: TransactionSettings): Promise<void> {
    lease.isInTransaction = true
    try {
      await lease.executeQuery({ sql: isolationLevel ? `begin isolation level ${isolationLevel}` : 'begin' })
    } catch (error) {
      // Kysely keeps a connection whose transaction fails to begin.
      lease.end()
      throw error
    }
  }

  async commitTransaction(lease: Lease): Promise<void> {
    await lease.executeQuery({ sql: 'commit' })
    lease.isInTransaction = false
  }

  async rollbackTransaction(lease: Lease): Promise<void> {
    try {
      await lease.executeQuery({ sql: 'rollback' })
    } catch {
      // Kysely keeps a connection whose transaction fails to roll back. Without its connection, no transaction goes on.
      lease.break()
    }
    lease.isInTransaction = false
  }

  async savepoint(lease: Lease, name: string): Promise<void> {
    await lease.executeQuery({ sql: `savepoint ${name}` })
  }

  async rollbackToSavepoint(lease: Lease, name: string): Promise<void> {
    await lease.executeQuery({ sql: `rollback to ${name}` })
  }

  async releaseSavepoint(lease: Lease, name: string): Promise<void> {
    await lease.executeQuery({ sql: `release ${name}` })
  }

  async destroy(): Promise<void> {
    await Promise.race([this.#pool.end(), sleep(longestGoodbye, undefined, { ref: false })])
  }

  async #connect(): Promise<PoolClient> {
    let client: PoolClient | undefined
    try {
      client = await this.#pool.connect()
      while (this.#isOlderThanOutage(client)) {
        cut(client)
        client = await this.#pool.connect()
      }
      if (this.#isLimited && !this.#limited.has(client)) {
        const { count } = this.outage
        await client.query({ text: limits, query_timeout: longestGreeting })
        this.#limited.set(client, count)
      }
      return client
    } catch (error) {
      if (client) cut(client)
      if (isTimeout(error)) this.outage.begin(error)
      throw error
    }
  }

  // A firewall may have forgotten it meanwhile: to find that out of one after the other takes seconds each time.
  #isOlderThanOutage(client: PoolClient): boolean {
    return (this.#limited.get(client) ?? this.outage.count) < this.outage.count
  }
}
