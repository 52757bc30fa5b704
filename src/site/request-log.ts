import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'

// A line of a log is read by people.
const longestPath = 500

/**
 * A line for each request. Of what the client sent it has the method and the path: queries, headers and bodies hold
 * secrets. What is written down of the request elsewhere has the same identifier, `ctx.state.request`.
 */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const request = randomUUID()
    ctx.state.request = request
    await next()
    const ms = Math.round((performance.now() - start) * 10) / 10
    const path = ctx.path.slice(0, longestPath)
    log.info({ request, address: ctx.ip, method: ctx.method, path, status: ctx.status, ms }, 'request')
  }
}
