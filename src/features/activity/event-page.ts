import type { EntityManager } from '@mikro-orm/core'
import { clockSkew } from '../../database/future-time.ts'
import { unauthenticated } from '../../site/audit-event.ts'
import { Event } from './event.ts'

const length = 100

/** A page of the events of an account, newest first. */
export interface EventPage {
  readonly events: Event[]
  /** The id of the owner's oldest event on this page. `undefined` on the last page. */
  readonly last?: string | undefined
}

/**
 * Finds a page of the owner's events, and the unauthenticated events of the same period. These do not count toward the length, so that
 * attackers cannot push a sign-in off the page.
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
