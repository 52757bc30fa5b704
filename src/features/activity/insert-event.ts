import { hash } from 'node:crypto'
import { type EntityManager, type RequiredEntityData, raw } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import { refusals } from '../../site/event-name.ts'
import { networkOf } from '../../throttle/network.ts'
import { Event } from './event.ts'

const day = 24 * 60 * 60_000
// Refusals at names without an account share so many rows a day: more would fill the table, one would be a bottleneck.
const rowsOfNobody = 64

/** An event as it is stored. */
export interface NewEvent {
  readonly id: string
  readonly at: Date
  readonly event: string
  readonly userId: string | null
  readonly address: string
  readonly userAgent: string
  readonly request: string
}

/** Inserts an event. A refusal is added to the row of its account and day instead, if there is one. */
export async function insertEvent(em: EntityManager, event: NewEvent): Promise<void> {
  if (!refusals.includes(event.event)) {
    await em.insert(Event, event)
    return
  }
  const { at, address, userAgent, request } = event
  await (em as SqlEntityManager)
    .createQueryBuilder(Event)
    .insert({ ...event, refusal: refusalOf(event) } satisfies RequiredEntityData<Event>)
    .onConflict('refusal')
    .merge({ at, address, userAgent, request, times: raw('events.times + 1') })
    .execute()
}

function refusalOf({ at, event, userId, address }: NewEvent): string {
  const account = userId ?? hash('sha256', networkOf(address), 'buffer').readUInt16BE() % rowsOfNobody
  return `${account} ${event} ${Math.floor(at.getTime() / day)}`
}
