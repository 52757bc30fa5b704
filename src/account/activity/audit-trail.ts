import { ConstraintViolationException, type MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { deleteBatch } from '../../database/delete-batch.ts'
import { clockSkew } from '../../durations.ts'
import { type Logger, loggable, printable } from '../../log/log.ts'
import { type Account, type EventName, events, type NotedEvent } from '../../site/audit-event.ts'
import { emailKey } from '../../users/user.ts'
import { Event, type EventFilter, type EventPage, eventPage, insertEvent, type NewEvent } from './event.ts'

// Each row has less than a kilobyte.
const maxWaiting = 10_000
const keptFor = 180 * 24 * 60 * 60_000

/** An event with its origin. It never holds a secret. */
export interface AuditEvent extends NotedEvent {
  readonly address: string
  readonly userAgent: string
  /** The identifier of the request in the log. */
  readonly request: string
}

/** Writes the events of a request. Use it before the session middleware, which can fail after the handler. */
export function auditEvents(trail: AuditTrail): Middleware {
  return async (ctx, next) => {
    await next()
    const all: readonly NotedEvent[] = ctx.events ?? []
    for (const noted of all) {
      if (sessionEvents.includes(noted.event) && ctx.status >= 400) continue
      const { requestId: request = '' } = ctx
      const origin = { address: ctx.ip, userAgent: ctx.get('User-Agent'), request }
      await trail.record({ ...noted, ...origin })
    }
  }
}

// The session is stored or deleted after the handler. If that fails, these events did not happen.
const sessionEvents: readonly EventName[] = ['signed in', 'signed out']

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
      { event, outcome: events[event].outcome, ...subject, ...logFields, ...origin },
      'authentication',
    )
    // A request over a limit must stay cheap, so it writes no row.
    if (!account || event === 'throttled') return
    const text = detail === undefined ? null : printable(detail, 255)
    const row = {
      id: uuidv7(),
      at: new Date(this.#now()),
      event,
      detail: text,
      userId: id ?? null,
      ...origin,
    }
    const isWritten = await this.#orReport(origin.request, () => this.#write(row))
    if (isWritten) await this.#writeWaiting()
    else if (this.waiting.length < maxWaiting) this.waiting.push(row)
  }

  async #write(row: NewEvent): Promise<true> {
    await insertEvent(this.#orm.em.fork(), row)
    return true
  }

  /** Writes the rows that the database refused before. */
  async #writeWaiting(): Promise<void> {
    const rows = this.waiting.splice(0)
    for (const [index, row] of rows.entries()) {
      try {
        await this.#write(row)
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

  /** A page of the events of an account, newest first. */
  page(userId: string, filter: EventFilter = {}): Promise<EventPage> {
    return eventPage(this.#orm.em.fork(), userId, { ...filter, now: this.#now() })
  }

  /** Deletes a batch of events that are older than 180 days, or more than two minutes in the future. Returns their number. */
  purge(limit = 500): Promise<number> {
    const now = this.#now()
    const where = {
      $or: [{ at: { $lt: new Date(now - keptFor) } }, { at: { $gt: new Date(now + clockSkew) } }],
    }
    return deleteBatch(this.#orm.em.fork(), Event, { where, key: 'id' }, limit)
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
