import { type Event, firstTime } from '../../account/activity/event.ts'
import { deviceName } from '../../account/devices/device-name.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { type EventName, events } from '../../site/audit-event.ts'
import { page, wantsPage } from '../../site/page.ts'
import { pageCursor } from '../../site/query.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import type { Views } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'

/** `GET /account/activity`: the events of the account, in pages. */
export function activity(router: SiteRouter, services: Services): void {
  router.get('/account/activity', ...owner(services), async (ctx) => {
    const { events: found, last } = await services.trail.page(ctx.auth.require(User).id, pageCursor(ctx))
    const older = last && `/account/activity?before=${last}`
    if (wantsPage(ctx)) return page(ctx, 'activity', { events: found.map(describeEvent), older })
    // RFC 8288 §3.
    if (older) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = found.map(record)
  })
}

function record({ id, at, event, detail, address, userAgent, times }: Event) {
  const device = deviceName(userAgent)
  return { id, at, event, ...(detail && { detail }), address, device, ...(times > 1 && { times }) }
}

function describeEvent(stored: Event): Views['activity']['events'][number] {
  const { event, detail = null, times = 1, ...origin } = record(stored)
  const first = firstTime(stored).toISOString().slice(0, 10)
  // A newer version of the site may have stored another kind of event.
  if (!isKnown(event)) return { ...origin, event, detail, isRefusal: false }
  const { outcome, wording } = events[event]
  const words = times > 1 ? `${wording}, ${times} times since ${first}` : wording
  return { ...origin, event: words, detail, isRefusal: outcome === 'refusal' }
}

function isKnown(event: string): event is EventName {
  return Object.hasOwn(events, event)
}
