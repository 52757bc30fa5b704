import { Event } from '../../account/activity/event.ts'
import { type EventName, events as kinds } from '../../site/audit-event.ts'
import { findAccount } from './account.ts'
import { type Call, UsageError } from './command.ts'

const pageSize = 1_000

/** Prints the events of an account, or of all accounts, from the oldest to the newest, page by page. */
export async function events(call: Call): Promise<string> {
  const { em, email, options, print } = call
  const account = email === '' ? {} : { userId: (await findAccount(call)).id }
  let from = { at: timeOf(options.since), id: '' }
  let printed = 0
  for (let isMore = true; isMore; ) {
    // The first condition is for the index.
    const later = from.id === '' ? {} : { $or: [{ at: { $gt: from.at } }, { id: { $gt: from.id } }] }
    const where = { ...account, at: { $gte: from.at }, ...later }
    const page = await em.fork().find(Event, where, { orderBy: { at: 'asc', id: 'asc' }, limit: pageSize })
    for (const each of page) print(options.json ? JSON.stringify(recordOf(each)) : line(each))
    from = page.at(-1) ?? from
    printed += page.length
    isMore = page.length === pageSize
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
