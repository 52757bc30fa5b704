import { hash } from 'node:crypto'
import {
  ConstraintViolationException,
  type EntityManager,
  type MikroORM,
  type RequiredEntityData,
  raw,
} from '@mikro-orm/core'
import type { AbstractSqlConnection, SqlEntityManager } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { deleteBatch } from '../../database/delete-batch.ts'
import { clockSkew, day } from '../../durations.ts'
import { type Logger, loggable, printable } from '../../log/log.ts'
import { type Account, type AuditEvent, outcomeOf, unauthenticated } from '../../site/audit.ts'
import { networkOf } from '../../throttle/network.ts'
import { emailKey } from '../../users/user.ts'
import { Event, type NewEvent } from './event.ts'

const keptFor = 180 * day
// Each row has less than a kilobyte.
const maxWaiting = 10_000
// Unauthenticated events of one kind without an account share this many rows. A single row would be a bottleneck.
const rowsWithoutAccount = 64

/**
 * The audit trail. Each event is written to the log, even with `LOG_LEVEL=silent`. An event that names an account is also stored in the
 * database, except a throttled attempt. Some repeated events are counted in one row (`insertEvent`). If the row cannot be written, the
 * request still succeeds and an error is logged. The row waits in memory until the database takes a later one.
 */
export class AuditTrail {
  readonly #orm: MikroORM
  readonly #log: Logger
  readonly #now: () => number
  /** The events that the database has refused. */
  readonly waiting: NewEvent[] = []

  /** @param now the clock, in milliseconds */
  constructor(orm: MikroORM, log: Logger, now = Date.now) {
    this.#orm = orm
    this.#log = log.child({}, { level: 'info' })
    this.#now = now
  }

  /** Records an event. Never throws. */
  async record({ event, account, detail, logFields, ...from }: AuditEvent): Promise<void> {
    const origin = {
      address: printable(from.address, 45),
      userAgent: printable(from.userAgent, 255),
      request: printable(from.request, 36),
    }
    const id = account && (await this.#orReport(origin.request, () => this.#idOf(account)))
    const subject = account && { [account.kind]: id ?? null }
    this.#log.info(
      { event, outcome: outcomeOf(event), ...subject, ...logFields, ...origin },
      'authentication',
    )
    // A request over a limit must stay cheap, so it writes no row.
    if (!account || event === 'throttled') return
    const row = {
      id: uuidv7(),
      at: new Date(this.#now()),
      event,
      detail: detail === undefined ? null : printable(detail, 255),
      userId: id ?? null,
      ...origin,
    }
    const isWritten = await this.#orReport(origin.request, () => insertEvent(this.#orm.em.fork(), row))
    if (isWritten) await this.#writeWaiting()
    else if (this.waiting.length < maxWaiting) this.waiting.push(row)
  }

  /** Writes the rows that the database refused before. */
  async #writeWaiting(): Promise<void> {
    const rows = this.waiting.splice(0)
    for (const [index, row] of rows.entries()) {
      try {
        await insertEvent(this.#orm.em.fork(), row)
      } catch (error) {
        // A row that has been written although its response was lost.
        if (error instanceof ConstraintViolationException) continue
        this.waiting.unshift(...rows.slice(index))
        return
      }
    }
    if (rows.length > 0)
      this.#log.info({ rows: rows.length }, 'the audit trail in the database is complete again')
  }

  /** Deletes a batch of events that are older than 180 days, or more than two minutes in the future. Returns their number. */
  purge(limit = 500): Promise<number> {
    const now = this.#now()
    const isOld = { at: { $lt: new Date(now - keptFor) } }
    const isInFuture = { at: { $gt: new Date(now + clockSkew) } }
    return deleteBatch(this.#orm.em.fork(), Event, [isOld, isInFuture], limit)
  }

  // The query also returns a row for an unknown user name, so that its time does not reveal whether the account exists.
  async #idOf(account: Account): Promise<string | undefined> {
    if ('id' in account) return account.id
    const table = account.kind === 'admin' ? 'admins' : 'users'
    const connection = this.#orm.em.getConnection() as AbstractSqlConnection
    // The drivers reject NUL, which no address contains.
    const key = emailKey(account.username).replaceAll('\0', '\ufffd')
    const [row] = await connection.execute<{ id: string | null }[]>(
      `select (select id from ${table} where email_key = ?) as id`,
      [key],
    )
    return row?.id ?? undefined
  }

  async #orReport<Result>(request: string, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#log.error({ ...loggable(error), request }, 'the audit trail in the database lacks an event')
      return undefined
    }
  }
}

/** Inserts an event, or adds it to an earlier row with the same `countKey`. */
export async function insertEvent(em: EntityManager, event: NewEvent): Promise<true> {
  const refusal = countKey(event)
  if (refusal === undefined) {
    await em.insert(Event, event)
    return true
  }
  const { at, detail, address, userAgent, request } = event
  await (em as SqlEntityManager)
    .createQueryBuilder(Event)
    .insert({ ...event, refusal } satisfies RequiredEntityData<Event>)
    .onConflict('refusal')
    .merge({ at, detail, address, userAgent, request, times: raw('events.times + 1') })
    .execute()
  return true
}

/**
 * The key of the row that counts an event, or `undefined` if each event has its own row. Anyone can repeat an unauthenticated event, so
 * an account has one row for each kind. A program repeats its password, so it has one row for each network and day.
 */
function countKey({ at, event, userId, address }: NewEvent): string | undefined {
  const network = hash('sha256', networkOf(address), 'buffer')
  const account = userId ?? network.readUInt16BE() % rowsWithoutAccount
  if (unauthenticated.includes(event)) return `${account} ${event}`
  const date = Math.floor(at.getTime() / day)
  return event === 'password used' ? `${account} ${network.toString('base64url', 0, 16)} ${date}` : undefined
}
