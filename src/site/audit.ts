import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import type { Account, EventRecorder, NotedEvent } from './audit-event.ts'
import type { EventName } from './event-name.ts'
import type { SiteContext } from './site-context.ts'

// The session starts and ends after the handler, and the request fails if that fails.
const ofSession: readonly EventName[] = ['signed in', 'signed out']

/**
 * Records an event of this request, once it has happened. It is written before the response is sent, also if the request
 * fails later. A sign-in and a sign-out are written only if the request succeeds.
 *
 * @param account the account of the event; for a wrong password, the claimed account
 */
export function audit(ctx: SiteContext, event: EventName, account?: User | Admin | Account): void {
  ctx.state.events ??= []
  ctx.state.events.push({ event, account: accountOf(account) })
}

/** Records refused credentials, unless the password check has recorded them. */
export function auditRefusedCredentials(ctx: SiteContext): void {
  if (ctx.auth.credentialsSent && !ctx.state.events) audit(ctx, 'credentials refused')
}

/** Writes the events of a request. Stands outside the session, which may still fail after the handler. */
export function audited(trail: EventRecorder): Middleware {
  return async (ctx, next) => {
    await next()
    const events: readonly NotedEvent[] = ctx.state.events ?? []
    for (const { event, account } of events) {
      if (ofSession.includes(event) && ctx.status >= 400) continue
      const origin = { address: ctx.ip, userAgent: ctx.get('User-Agent'), request: ctx.state.request }
      await trail.record({ event, account, ...origin })
    }
  }
}

function accountOf(who: User | Admin | Account | undefined): Account | undefined {
  if (who instanceof User) return { kind: 'user', id: who.id }
  if (who instanceof Admin) return { kind: 'admin', id: who.id }
  return who
}
