import type { Middleware } from 'koa'
import type { Audit } from '../audit/audit.ts'
import { accountOf, authenticationEvent } from './authentication-event.ts'

/** Has what happened on a request written down before it is answered. */
export function audited(audit: Audit): Middleware {
  return async (ctx, next) => {
    await next()
    const event = authenticationEvent(ctx)
    if (!event) return
    const from = { address: ctx.ip, userAgent: ctx.get('User-Agent'), request: ctx.state.request }
    await audit.record({ event, account: accountOf(ctx, event), ...from })
  }
}
