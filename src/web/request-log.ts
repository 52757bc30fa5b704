import { randomUUID } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import type { Auth } from '#auth'
import { User } from '../users/user.ts'

/**
 * A line for each request, and one for each authentication event, told from the store that the request leaves behind.
 * Of what the client sent they have the method and the path: queries, headers and bodies hold secrets.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const request = randomUUID()
    await next()
    const ms = Math.round((performance.now() - start) * 10) / 10
    const from = { request, address: ctx.ip }
    const event = ctx.auth && eventOf(ctx.auth, ctx)
    if (event) log.info({ ...from, event, user: ctx.auth.peek(User)?.id }, 'authentication')
    log.info({ ...from, method: ctx.method, path: ctx.path, status: ctx.status, ms }, 'request')
  }
}

function eventOf(auth: Auth, { path, status }: Context): string | undefined {
  if (auth.isLoggedOut(User)) return 'signed out'
  if (status === 401) return auth.credentialsSent ? 'credentials refused' : undefined
  if (status >= 400 || !auth.peek(User)) return undefined
  const by = auth.by(User)
  if (!by) return 'signed up'
  if (by.signsIn) return 'signed in'
  return path === '/login' ? 'token issued' : undefined
}
