import type Router from '@koa/router'
import { type EventName, outcomes } from '../../site/audit-event.ts'
import { page, wantsPage } from '../../site/page.ts'
import { pageCursor } from '../../site/query.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { Views } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'
import { deviceName } from '../sessions/device-name.ts'
import { owner } from '../sign-in/owner.ts'
import type { AuditTrail } from './audit-trail.ts'
import type { Event } from './event.ts'

const wording: Record<EventName, string> = {
  'signed up': 'Account created',
  'signed in': 'Signed in',
  'signed out': 'Signed out',
  'token issued': 'Token issued in exchange for the password',
  'password used': 'Password used with the API',
  'credentials refused': 'Wrong password',
  throttled: 'Blocked after too many attempts',
  confirmed: 'Confirmed with the password, a code or a passkey',
  'code required': 'Right password, code requested',
  'code refused': 'Wrong code',
  'authenticator app turned on': 'Authenticator app turned on',
  'authenticator app turned off': 'Authenticator app turned off',
  'recovery code used': 'Recovery code used',
  'recovery codes created': 'Recovery codes created',
  'passkey added': 'Passkey added',
  'passkey renamed': 'Passkey renamed',
  'passkey removed': 'Passkey removed',
  'passkey refused': 'Passkey refused',
  'passkey counter went back': 'Passkey refused, because it may have been copied',
  'second factors removed': 'Authenticator app and passkeys removed by the operator of the site',
  'password changed': 'Password changed',
  'reset link requested': 'Password reset link requested',
  'password reset': 'Password reset by a link',
  'verification link requested': 'E-mail confirmation link requested',
  'address verified': 'E-mail address confirmed',
  'name changed': 'Name changed',
  'address change requested': 'Change of e-mail address requested',
  'address change cancelled': 'Change of e-mail address cancelled',
  'address changed': 'E-mail address changed',
  'token created': 'Token created',
  'token revoked': 'Token revoked',
  'session ended': 'Session ended',
  'other sessions ended': 'Signed out everywhere else',
  'account closed': 'Account closed',
  'admin used': 'API used as an admin',
}

/** `GET /account/activity`: the events of the account, in pages. */
export function activity(router: Router<object, SiteContext>, trail: AuditTrail): void {
  router.get('/account/activity', ...owner(), async (ctx) => {
    const { events, last } = await trail.page(ctx.auth.require(User).id, pageCursor(ctx))
    const older = last && `/account/activity?before=${last}`
    if (wantsPage(ctx)) return page(ctx, 'activity', { events: events.map(describeEvent), older })
    // RFC 8288 §3.
    if (older) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = events.map(record)
  })
}

function record({ id, at, event, detail, address, userAgent, times }: Event) {
  const device = deviceName(userAgent)
  return { id, at, event, ...(detail && { detail }), address, device, ...(times > 1 && { times }) }
}

function describeEvent(stored: Event): Views['activity']['events'][number] {
  const { event, detail = null, times = 1, ...origin } = record(stored)
  // A newer version of the site may have added events.
  if (!isKnown(event)) return { ...origin, event, detail, isRefusal: false }
  const words = times > 1 ? `${wording[event]}, ${times} times on this day` : wording[event]
  return { ...origin, event: words, detail, isRefusal: outcomes[event] === 'refusal' }
}

function isKnown(event: string): event is EventName {
  return Object.hasOwn(wording, event)
}
