import { defineEntity, type EntityManager, p } from '@mikro-orm/core'
import { v7 as uuidv7 } from 'uuid'
import { clockSkew } from '../../durations.ts'
import { unauthenticated } from '../../site/audit.ts'
import { deviceName } from '../devices/device-name.ts'

const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [{ name: 'events_user_id_index', properties: ['userId', 'id'] }],
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    at: p.datetime().index(),
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
    refusal: p.string().length(100).nullable().unique(),
  },
})

/** A stored event of the audit trail. It never holds a secret. */
export class Event extends EventSchema.class {}

EventSchema.setClass(Event)

/** The columns of a new event. */
export type NewEvent = Pick<
  Event,
  'id' | 'at' | 'event' | 'detail' | 'userId' | 'address' | 'userAgent' | 'request'
>

/** Erases the details of an account's events, because they may contain the user's name. */
export async function eraseDetails(em: EntityManager, userId: string): Promise<void> {
  await em.nativeUpdate(Event, { userId, detail: { $ne: null } }, { detail: null })
}

const length = 100

/** The events of one filter of the activity page. */
interface EventKind {
  /** Of the events that the owner has caused. */
  readonly own: { readonly $in: readonly string[] } | { readonly $nin: readonly string[] }
  readonly attempts: readonly string[]
}

const all: EventKind = { own: { $nin: unauthenticated }, attempts: unauthenticated }

/**
 * Finds a page of the events that the account's owner has caused, newest first. The first page also has the attempts of others, at most
 * one row for each kind, so that they cannot push a sign-in off the page. `last` is the id of the oldest event, unless this is the last
 * page.
 *
 * @param filter `before` is the id of an event, and only older ones are returned. `kind` has conditions for the names of the events
 */
export async function eventPage(
  em: EntityManager,
  userId: string,
  { before, kind = all }: { before?: string | undefined; kind?: EventKind | undefined } = {},
  now = Date.now(),
) {
  const at = { $lte: new Date(now + clockSkew) }
  const own = { userId, event: kind.own, at, ...(before && { id: { $lt: before } }) }
  const found = await em.find(Event, own, { orderBy: { id: 'desc' }, limit: length + 1 })
  const attempts = before
    ? []
    : await em.find(
        Event,
        { userId, event: { $in: kind.attempts }, at },
        { orderBy: { id: 'desc' }, limit: length },
      )
  const page = [...found.slice(0, length), ...attempts].sort(
    (one, other) => other.at.getTime() - one.at.getTime() || (other.id < one.id ? -1 : 1),
  )
  return { events: page, last: found.length > length ? found[length - 1]?.id : undefined }
}

/** The words of events on the activity page, where the name says too little. */
export const accountWords: Readonly<Record<string, string>> = {
  'credentials refused': 'Wrong password',
  'code refused': 'Wrong code',
  'code required': 'Password accepted, waiting for the code',
  'identity added': 'Account of a provider connected',
  'identity removed': 'Account of a provider disconnected',
  confirmed: 'Confirmed with the password, a code or a passkey',
  'password used': 'Password used with the API',
  'token issued': 'API token created with the password',
  'passkey counter went back': 'Passkey refused, because it may have been copied',
  'second factors removed': 'Authenticator app and passkeys removed by the operator of the site',
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
