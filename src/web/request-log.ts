import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { User } from '../users/user.ts'
import { authenticationEvent } from './authentication-event.ts'

/**
 * A line for each request, and one for each authentication event. Of what the client sent they have the method and the
 * path: queries, headers and bodies hold secrets.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const request = randomUUID()
    await next()
    const ms = Math.round((performance.now() - start) * 10) / 10
    const from = { request, address: ctx.ip }
    const event = authenticationEvent(ctx)
    if (event) log.info({ ...from, event, user: ctx.auth.peek(User)?.id }, 'authentication')
    log.info({ ...from, method: ctx.method, path: ctx.path, status: ctx.status, ms }, 'request')
  }
}
