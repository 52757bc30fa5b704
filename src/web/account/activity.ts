import type Router from '@koa/router'
import type { Audit } from '../../audit/audit.ts'
import { type EventName, outcomes } from '../../audit/event-name.ts'
import { User } from '../../users/user.ts'
import { wantsPage } from '../face.ts'
import type { SiteContext } from '../site-context.ts'
import { page } from '../views.ts'
import { deviceName } from './device-name.ts'
import { owner } from './owner.ts'

// As its owner would say it.
const words: Record<EventName, string> = {
  'signed up': 'Account created',
  'signed in': 'Signed in',
  'signed out': 'Signed out',
  'token issued': 'Password exchanged for a token',
  'password used': 'Password used by a program',
  'credentials refused': 'Wrong password',
  throttled: 'Too many attempts, refused',
  'password changed': 'Password changed',
  'name changed': 'Name changed',
  'token created': 'Token created',
  'token revoked': 'Token revoked',
  'session ended': 'Session ended',
  'other sessions ended': 'Signed out everywhere else',
  'account closed': 'Account closed',
  'admin used': 'Used as an admin',
}

/** `GET /account/activity`: what happened to the account lately, for whoever owns it. */
export function activity(router: Router<object, SiteContext>, audit: Audit): void {
  router.get('/account/activity', ...owner(), async (ctx) => {
    const recent = await audit.recent(ctx.auth.require(User).id)
    const events = recent.map(({ id, at, event, address, userAgent }) => ({
      id,
      at,
      event,
      address,
      device: deviceName(userAgent),
    }))
    if (wantsPage(ctx)) await page(ctx, 'activity', { events: events.map(inWords) })
    else ctx.body = events
  })
}

function inWords<Shown extends { event: string }>(shown: Shown) {
  const { event } = shown
  // A newer version of this program may have written others.
  if (!isKnown(event)) return { ...shown, isRefusal: false }
  return { ...shown, event: words[event], isRefusal: outcomes[event] === 'refusal' }
}

function isKnown(event: string): event is EventName {
  return Object.hasOwn(words, event)
}
