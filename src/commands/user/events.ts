import type { EntityManager } from '@mikro-orm/core'
import { Event } from '../../account/activity/event.ts'
import { day, hour, minute } from '../../durations.ts'
import { outcomeOf } from '../../site/audit.ts'
import { Admin } from '../../users/admin.ts'
import { User } from '../../users/user.ts'
import { pages } from '../pages.ts'
import { findAccount } from './account.ts'
import { type Call, UsageError } from './command.ts'

/** Prints the events of an account, or of all accounts, from the oldest to the newest, page by page. */
export async function events(call: Call): Promise<string> {
  const { em, email, options, print } = call
  const account = email === '' ? {} : { userId: (await findAccount(call)).id }
  const where = { ...account, at: { $gte: timeOf(options.since) } }
  let printed = 0
  for await (const page of pages(em, Event, { where, orderBy: { at: 'asc', id: 'asc' } })) {
    const emails = await emailsOf(em.fork(), page)
    for (const each of page) {
      const email = emails.get(each.userId ?? '')
      print(options.json ? JSON.stringify(recordOf(each, email)) : line(each, email))
    }
    printed += page.length
  }
  return printed === 0 && !options.json ? 'There are no such events.' : ''
}

const units: Record<string, number> = { m: minute, h: hour, d: day }

function timeOf(since = '1970-01-01'): Date {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(since) ?? []
  if (count) return new Date(Date.now() - Number(count) * (units[unit] ?? 0))
  const time = new Date(since)
  if (!/^\d{4}-\d\d-\d\d/.test(since) || Number.isNaN(time.getTime()))
    throw new UsageError('--since must be a time such as 30m, 2h, 7d, 2026-11-28 or 2026-11-28T13:00:00Z.')
  return time
}

/** The addresses of the accounts that still exist, by their ids. */
async function emailsOf(em: EntityManager, page: readonly Event[]): Promise<Map<string, string>> {
  const ids = page.flatMap(({ userId }) => userId ?? [])
  const found = [User, Admin].map((entity) => em.find(entity, { id: { $in: ids } }, { filters: false }))
  return new Map((await Promise.all(found)).flat().map(({ id, email }) => [id, email]))
}

function recordOf(
  { id, at, event, userId, detail, address, userAgent, request, times }: Event,
  email: string | undefined,
) {
  const outcome = outcomeOf(event)
  return { id, at, event, outcome, user: userId, email, detail, address, userAgent, request, times }
}

function line({ at, event, times, address, userId, detail }: Event, email: string | undefined): string {
  const count = times > 1 ? ` (${times} times)` : ''
  const rest = [address, email ?? userId ?? 'no account', detail].filter((each) => each !== null)
  return `${at.toISOString()}  ${event}${count}  ${rest.join('  ')}`
}
