import type { Middleware } from 'koa'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import type { Account, EventRecorder, NotedEvent } from './audit-event.ts'
import { type EventName, outcomes } from './event-name.ts'
import type { SiteContext } from './site-context.ts'

/**
 * Records an event of this request. It is written before the response is sent: a refusal always, anything else only if the
 * request succeeds.
 *
 * @param who the account that it concerns, or the one that a password was said to be of
 */
export function audit(ctx: SiteContext, event: EventName, who?: User | Admin | Account): void {
  ctx.state.events ??= []
  ctx.state.events.push({ event, account: accountOf(who) })
}

/** Records credentials that nothing accepted, unless the check of a password has recorded them. */
export function auditRefusedCredentials(ctx: SiteContext): void {
  if (ctx.auth.credentialsSent && !ctx.state.events) audit(ctx, 'credentials refused')
}

/** Writes the events of a request. Stands outside the session, which may still fail after the handler. */
export function audited(trail: EventRecorder): Middleware {
  return async (ctx, next) => {
    await next()
    const events: readonly NotedEvent[] = ctx.state.events ?? []
    for (const { event, account } of events) {
      if (outcomes[event] === 'success' && ctx.status >= 400) continue
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
