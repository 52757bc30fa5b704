import { type Event, eventRecord, firstTime } from '../../account/activity/event.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { day } from '../../durations.ts'
import { type EventName, eventKinds, events, unauthenticated } from '../../site/audit-event.ts'
import { page, wantsPage } from '../../site/page.ts'
import { pageCursor, queryParameter } from '../../site/query.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import type { Views } from '../../site/view-data.ts'
import { day as date } from '../../site/wording.ts'
import { networkOf } from '../../throttle/network.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    activity: {
      events: {
        event: string
        detail: string | null
        isRefusal: boolean
        /** Whether it is a recent refusal of an unknown device. */
        isSuspicious: boolean
        at: Date
        device: string
        address: string
      }[]
      /** The chosen filter. */
      kind?: string | undefined
      /** The page with older events, if there are any. */
      older?: string | undefined
    }
  }
}

type Shown = Views['activity']['events'][number]

/** `GET /account/activity`: the events of the account, in pages. `?kind=` selects some of them. */
export function activity(router: SiteRouter, services: Services): void {
  router.get('/account/activity', ...owner(services), async (ctx) => {
    const wanted = queryParameter(ctx, 'kind')
    const kind = Object.keys(eventKinds).find((each) => each === wanted)
    const { id } = ctx.auth.require(User)
    const filter = { before: pageCursor(ctx), kind: kind === undefined ? undefined : eventKinds[kind] }
    const { events: found, last } = await services.trail.page(id, filter)
    const older = last && `/account/activity?${kind ? `kind=${kind}&` : ''}before=${last}`
    if (wantsPage(ctx)) return page(ctx, 'activity', { events: described(found), kind, older })
    // RFC 8288 §3.
    if (older) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = found.map(eventRecord)
  })
}

/** The events in words. A recent refusal is suspicious if no other event on the page has its device and network. */
function described(found: readonly Event[]): Shown[] {
  const originOf = ({ address, userAgent }: Event) => `${networkOf(address)} ${userAgent}`
  const known = found.filter(({ event }) => !unauthenticated.includes(event)).map(originOf)
  return found.map((stored) => {
    const shown = describeEvent(stored)
    const isRecent = Date.now() - stored.at.getTime() < 7 * day
    return { ...shown, isSuspicious: shown.isRefusal && isRecent && !known.includes(originOf(stored)) }
  })
}

function describeEvent(stored: Event): Omit<Shown, 'isSuspicious'> {
  const { event, detail = null, times = 1, ...origin } = eventRecord(stored)
  const first = date(firstTime(stored))
  // A newer version of the site may have stored another kind of event.
  if (!isKnown(event)) return { ...origin, event, detail, isRefusal: false }
  const { outcome, wording } = events[event]
  const words = times > 1 ? `${wording}, ${times} times since ${first}` : wording
  return { ...origin, event: words, detail, isRefusal: outcome === 'refusal' }
}

function isKnown(event: string): event is EventName {
  return Object.hasOwn(events, event)
}
