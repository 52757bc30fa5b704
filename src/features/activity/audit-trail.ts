import { hash } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/core'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { deleteBatch } from '../../database/delete-batch.ts'
import { clockSkew } from '../../database/future-time.ts'
import { type Logger, loggable } from '../../log/log.ts'
import type { Account, AuditEvent, EventRecorder } from '../../site/audit-event.ts'
import { type EventName, outcomes } from '../../site/event-name.ts'
import { networkOf } from '../../throttle/network.ts'
import { emailKey } from '../../users/email.ts'
import { Event } from './event.ts'
import { type EventPage, eventPage } from './event-page.ts'
import { insertEvent } from './insert-event.ts'
import { printable } from './printable.ts'
import { Seldom } from './seldom.ts'

const minute = 60_000
const quarter = 15 * minute
const keptFor = 180 * 24 * 60 * 60_000

/**
 * The audit trail. Each event is a line of the log at every log level, and a row of the database for the account's activity page.
 * If the row cannot be written, the response stands, and a second line of the log is an error.
 */
export class AuditTrail implements EventRecorder {
  readonly #orm: MikroORM
  readonly #log: Logger
  readonly #now: () => number
  readonly #seldom: { readonly [Name in EventName]?: Seldom }

  constructor(orm: MikroORM, log: Logger, now = Date.now) {
    this.#orm = orm
    this.#log = log.child({}, { level: 'info' })
    this.#now = now
    this.#seldom = {
      throttled: new Seldom(quarter, now),
      'password used': new Seldom(quarter, now),
      'name changed': new Seldom(minute, now),
      'other sessions ended': new Seldom(minute, now),
    }
  }

  /** Writes down what happened. Never throws. */
  async record({ event, account, ...from }: AuditEvent): Promise<void> {
    const origin = {
      address: printable(from.address, 45),
      userAgent: printable(from.userAgent, 255),
      request: printable(from.request, 36),
    }
    const id = account && (await this.#orReport(origin.request, () => this.#idOf(account)))
    const whose = account && { [account.kind]: id ?? null }
    this.#log.info({ event, outcome: outcomes[event], ...whose, ...origin }, 'authentication')
    if (!account || !this.#isDue(event, account, origin.address)) return
    const row = { id: uuidv7(), at: new Date(this.#now()), event, userId: id ?? null, ...origin }
    await this.#orReport(origin.request, () => insertEvent(this.#orm.em.fork(), row))
  }

  /** A page of the events of an account, newest first: those before the event with that id, if one is given. */
  page(userId: string, before?: string): Promise<EventPage> {
    return eventPage(this.#orm.em.fork(), userId, { before, now: this.#now() })
  }

  /** Deletes a batch of events that are older than 180 days, or from a wrong clock. Returns how many there were. */
  purge(most = 500): Promise<number> {
    const now = this.#now()
    const where = {
      $or: [{ at: { $lt: new Date(now - keptFor) } }, { at: { $gt: new Date(now + clockSkew) } }],
    }
    return deleteBatch(this.#orm.em.fork(), Event, { where, key: 'id' }, most)
  }

  // The same work for a name that is nobody's: one plain row, of which MikroORM makes no entity.
  async #idOf(account: Account): Promise<string | undefined> {
    if ('id' in account) return account.id
    const table = account.kind === 'admin' ? 'admins' : 'users'
    const connection = this.#orm.em.getConnection() as AbstractSqlConnection
    // As guesses are counted, not a space more or less. The driver chokes on a NUL, which nobody has in an address.
    const key = emailKey(account.username).replaceAll('\0', '\ufffd')
    const [row] = await connection.execute<{ id: string | null }[]>(
      `select (select id from ${table} where email_key = ?) as id`,
      [key],
    )
    return row?.id ?? undefined
  }

  // What can be repeated at will, and at no cost, is a row once in a while, or it would push everything else out of sight;
  // the lines have every one.
  #isDue(event: EventName, account: Account, address: string): boolean {
    const seldom = this.#seldom[event]
    if (!seldom) return true
    const name = 'id' in account ? account.id : emailKey(account.username)
    const whose = hash('sha256', `${account.kind} ${name}`, 'base64url')
    const network = networkOf(address)
    if (event === 'throttled') return seldom.isDue(whose, network)
    return seldom.isDue(event === 'password used' ? `${whose} ${network}` : whose)
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
