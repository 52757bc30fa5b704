import { hash } from 'node:crypto'
import { defineEntity, type EntityManager, p, type RequiredEntityData, raw } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { v7 as uuidv7 } from 'uuid'
import { clockSkew } from '../../durations.ts'
import { unauthenticated } from '../../site/audit-event.ts'
import { networkOf } from '../../throttle/network.ts'
import { deviceName } from '../devices/device-name.ts'

const dayLength = 24 * 60 * 60_000
// Unauthenticated events of one kind without an account share this many rows. A single row would be a bottleneck.
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
    // A row with a `countKey` in the column `refusal` holds the last event and the number of events.
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

/** Inserts an event, or adds it to an earlier row with the same `countKey`. */
export async function insertEvent(em: EntityManager, event: NewEvent): Promise<void> {
  const refusal = countKey(event)
  if (refusal === undefined) {
    await em.insert(Event, event)
    return
  }
  const { at, detail, address, userAgent, request } = event
  await (em as SqlEntityManager)
    .createQueryBuilder(Event)
    .insert({ ...event, refusal } satisfies RequiredEntityData<Event>)
    .onConflict('refusal')
    .merge({ at, detail, address, userAgent, request, times: raw('events.times + 1') })
    .execute()
}

/** Erases the details of an account's events, because they may contain the user's name. */
export async function eraseDetails(em: EntityManager, userId: string): Promise<void> {
  await em.nativeUpdate(Event, { userId, detail: { $ne: null } }, { detail: null })
}

/**
 * The key of the row that counts an event, or `undefined` if each event has its own row. Anyone can repeat an unauthenticated event, so
 * an account has one row for each kind. A program repeats its password, so it has one row for each network and day.
 */
function countKey({ at, event, userId, address }: NewEvent): string | undefined {
  const network = hash('sha256', networkOf(address), 'buffer')
  const account = userId ?? network.readUInt16BE() % rowsWithoutAccount
  if (unauthenticated.includes(event)) return `${account} ${event}`
  const day = Math.floor(at.getTime() / dayLength)
  return event === 'password used' ? `${account} ${network.toString('base64url', 0, 16)} ${day}` : undefined
}

const length = 100

/** Which events of an account to return. */
export interface EventFilter {
  /** The id of an event. Only older ones are returned. */
  readonly before?: string | undefined
  /** The names of the wanted events. By default, all. */
  readonly kind?: readonly string[] | undefined
}

/** A page of the events of an account, newest first. */
export interface EventPage {
  readonly events: Event[]
  /** The id of the oldest event on this page. `undefined` on the last page. */
  readonly last?: string | undefined
}

/**
 * Finds a page of the events that the account's owner has caused. The first page also has the attempts of others, at most one row for
 * each kind, so that they cannot push a sign-in off the page.
 */
export async function eventPage(
  em: EntityManager,
  userId: string,
  { before, kind, now }: EventFilter & { now: number },
): Promise<EventPage> {
  const at = { $lte: new Date(now + clockSkew) }
  const isAttempt = (event: string) => unauthenticated.includes(event)
  // Without a filter, the page also has events that a newer version of the site has stored.
  const event = kind ? { $in: kind.filter((each) => !isAttempt(each)) } : { $nin: unauthenticated }
  const own = { userId, event, at, ...(before && { id: { $lt: before } }) }
  const found = await em.find(Event, own, { orderBy: { id: 'desc' }, limit: length + 1 })
  const attempts = before
    ? []
    : await em.find(
        Event,
        { userId, event: { $in: kind?.filter(isAttempt) ?? unauthenticated }, at },
        { orderBy: { id: 'desc' }, limit: length },
      )
  const page = [...found.slice(0, length), ...attempts].sort(
    (one, other) => other.at.getTime() - one.at.getTime() || (other.id < one.id ? -1 : 1),
  )
  return { events: page, last: found.length > length ? found[length - 1]?.id : undefined }
}

/** The record of an event (docs/http-api.md, "Records"). */
export function eventRecord({ id, at, event, detail, address, userAgent, times }: Event) {
  const device = deviceName(userAgent)
  return { id, at, event, ...(detail && { detail }), address, device, ...(times > 1 && { times }) }
}

/** The time of the first event in a row. */
export function firstTime({ id }: Event): Date {
  // A version 7 UUID starts with its time in milliseconds (RFC 9562 §5.7).
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}
