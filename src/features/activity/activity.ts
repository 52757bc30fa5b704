import { entityManager } from '#auth/mikro-orm'
import { accountWords, type Event, eventPage, eventRecord, firstTime } from '../../account/activity/event.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { day } from '../../durations.ts'
import { outcomeOf, refusals, unauthenticated } from '../../site/audit.ts'
import { page, wantsPage } from '../../site/page.ts'
import { pageCursor, queryParameter } from '../../site/query.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { day as date } from '../../site/wording.ts'
import { networkOf } from '../../throttle/network.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    activity: {
      events: ReturnType<typeof described>
      /** The chosen filter. */
      kind?: string | undefined
      /** The page with older events, if there are any. */
      older?: string | undefined
    }
  }
}

const signIns = [
  ...['signed up', 'signed in', 'signed out', 'token issued', 'password used', 'confirmed'],
  ...['code required', 'recovery code used', 'admin used'],
]

/** The filters of the page. */
const kinds = new Map([
  ['sign-ins', { own: { $in: signIns }, attempts: [] }],
  ['changes', { own: { $nin: [...signIns, ...unauthenticated] }, attempts: ['reset link requested'] }],
  ['failed', { own: { $in: [] }, attempts: refusals }],
])

/** `GET /account/activity`: the events of the account, in pages. `?kind=` selects some of them. */
export function activity(router: SiteRouter, services: Services): void {
  router.get('/account/activity', ...owner(services), async (ctx) => {
    const wanted = queryParameter(ctx, 'kind') ?? ''
    const kind = kinds.has(wanted) ? wanted : undefined
    const { id } = ctx.auth.require(User)
    const filter = { before: pageCursor(ctx), kind: kinds.get(kind ?? '') }
    const { events: found, last } = await eventPage(entityManager(ctx), id, filter)
    const older = last && `/account/activity?${kind ? `kind=${kind}&` : ''}before=${last}`
    if (wantsPage(ctx)) return page(ctx, 'activity', { events: described(found), kind, older })
    // RFC 8288 §3.
    if (older) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = found.map(eventRecord)
  })
}

/** The events in words. A recent refusal is suspicious if no other event on the page has its device and network. */
function described(found: readonly Event[]) {
  const originOf = ({ address, userAgent }: Event) => `${networkOf(address)} ${userAgent}`
  const known = found.filter(({ event }) => !unauthenticated.includes(event)).map(originOf)
  return found.map((stored) => {
    const { event, detail = null, times = 1, at, device, address } = eventRecord(stored)
    const name = accountWords[event] ?? event.charAt(0).toUpperCase() + event.slice(1)
    const text = times > 1 ? `${name}, ${times} times since ${date(firstTime(stored))}` : name
    const isRefusal = outcomeOf(event) === 'refusal'
    const isRecent = Date.now() - at.getTime() < 7 * day
    const isSuspicious = isRefusal && isRecent && !known.includes(originOf(stored))
    return { event: text, detail, at, device, address, isRefusal, isSuspicious }
  })
}
