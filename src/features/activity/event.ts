import { hash } from 'node:crypto'
import { defineEntity, type EntityManager, p, type RequiredEntityData, raw } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { clockSkew } from '../../database/future-time.ts'
import { unauthenticated } from '../../site/audit-event.ts'
import { networkOf } from '../../throttle/network.ts'

const day = 24 * 60 * 60_000
// Unauthenticated events of one kind without an account share at most this many rows a day. A single row would be a bottleneck.
const rowsWithoutAccount = 64

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [
    { name: 'events_user_id_index', properties: ['userId', 'id'] },
    { name: 'events_at_index', properties: ['at'] },
  ],
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    at: p.datetime(),
    event: p.string().length(40),
    // Shown to the user, for example the name of a token. Erased when the account is closed.
    detail: p.string().length(255).nullable(),
    // No foreign key, because events remain when the account is closed.
    userId: p.string().nullable(),
    address: p.string().length(45),
    userAgent: p.string().length(255),
    request: p.string().length(36),
    // Unauthenticated events of one kind, account and day share a row. The row holds the last event and their number.
    times: p.integer().default(1),
    refusal: p.string().length(100).nullable().unique('events_refusal_unique'),
  },
})

/** A stored event of the audit trail. It never holds a secret. */
export class Event extends EventSchema.class {}

EventSchema.setClass(Event)

export type NewEvent = Pick<
  Event,
  'id' | 'at' | 'event' | 'detail' | 'userId' | 'address' | 'userAgent' | 'request'
>

/** Inserts an event. An unauthenticated event updates the row of its kind, account and day, if there is one. */
export async function insertEvent(em: EntityManager, event: NewEvent): Promise<void> {
  if (!unauthenticated.includes(event.event)) {
    await em.insert(Event, event)
    return
  }
  const { at, detail, address, userAgent, request } = event
  await (em as SqlEntityManager)
    .createQueryBuilder(Event)
    .insert({ ...event, refusal: refusalOf(event) } satisfies RequiredEntityData<Event>)
    .onConflict('refusal')
    .merge({ at, detail, address, userAgent, request, times: raw('events.times + 1') })
    .execute()
}

/** Erases the details of an account's events, because they may contain the user's name. */
export async function eraseDetails(em: EntityManager, userId: string): Promise<void> {
  await em.nativeUpdate(Event, { userId, detail: { $ne: null } }, { detail: null })
}

function refusalOf({ at, event, userId, address }: NewEvent): string {
  const account = userId ?? hash('sha256', networkOf(address), 'buffer').readUInt16BE() % rowsWithoutAccount
  return `${account} ${event} ${Math.floor(at.getTime() / day)}`
}

const length = 100

/** A page of the events of an account, newest first. */
export interface EventPage {
  readonly events: Event[]
  /** The id of the owner's oldest event on this page. `undefined` on the last page. */
  readonly last?: string | undefined
}

/**
 * Finds a page of the owner's events, and at most a hundred unauthenticated events of the same period. Unauthenticated events do
 * not count toward the length, so that attackers cannot push a sign-in off the page.
 */
export async function eventPage(
  em: EntityManager,
  userId: string,
  { before, now }: { before?: string | undefined; now: number },
): Promise<EventPage> {
  const end = before === undefined ? now + clockSkew : timeOf(before)
  const found = await em.find(
    Event,
    {
      userId,
      event: { $nin: unauthenticated },
      at: { $lte: new Date(now + clockSkew) },
      ...(before !== undefined && { id: { $lt: before } }),
    },
    { orderBy: { id: 'desc' }, limit: length + 1 },
  )
  const own = found.slice(0, length)
  const last = found.length > length ? own.at(-1) : undefined
  const start = last?.at ?? new Date(0)
  const refused = await em.find(
    Event,
    { userId, event: { $in: unauthenticated }, at: { $gte: start, $lt: new Date(end) } },
    { orderBy: { id: 'desc' }, limit: length },
  )
  const events = [...own, ...refused].sort(
    (one, other) => other.at.getTime() - one.at.getTime() || (other.id < one.id ? -1 : 1),
  )
  return { events, last: last?.id }
}

/** The time of a version 7 UUID in milliseconds (RFC 9562 §5.7). */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}
