import { Event } from '../../account/activity/event.ts'
import { type EventName, events as kinds } from '../../site/audit-event.ts'
import { findAccount } from './account.ts'
import { type Call, UsageError } from './command.ts'
import { pages } from './pages.ts'

/** Prints the events of an account, or of all accounts, from the oldest to the newest, page by page. */
export async function events(call: Call): Promise<string> {
  const { em, email, options, print } = call
  const account = email === '' ? {} : { userId: (await findAccount(call)).id }
  const since = timeOf(options.since)
  const find = (after: Event | undefined, limit: number) => {
    // The first condition is for the index.
    const later = after && { $or: [{ at: { $gt: after.at } }, { id: { $gt: after.id } }] }
    const where = { ...account, at: { $gte: after?.at ?? since }, ...later }
    return em.fork().find(Event, where, { orderBy: { at: 'asc', id: 'asc' }, limit })
  }
  let printed = 0
  for await (const page of pages(find)) {
    for (const each of page) print(options.json ? JSON.stringify(recordOf(each)) : line(each))
    printed += page.length
  }
  return printed === 0 && !options.json ? 'There are no such events.' : ''
}

function timeOf(since = '1970-01-01'): Date {
  const time = new Date(since)
  if (!/^\d{4}-\d\d-\d\d/.test(since) || Number.isNaN(time.getTime()))
    throw new UsageError('--since must be a time such as 2026-11-28 or 2026-11-28T13:00:00Z.')
  return time
}

function recordOf({ id, at, event, userId, detail, address, userAgent, request, times }: Event) {
  const { outcome } = kinds[event as EventName]
  return { id, at, event, outcome, user: userId, detail, address, userAgent, request, times }
}

function line({ at, event, times, address, userId, detail }: Event): string {
  const count = times > 1 ? ` (${times} times)` : ''
  const rest = [address, userId ?? 'no account', detail].filter((each) => each !== null)
  return `${at.toISOString()}  ${event}${count}  ${rest.join('  ')}`
}
