import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import { type Logger, loggable } from '../log/log.ts'
import { OutageLog } from './outage-log.ts'
import { isUnavailable } from './problem.ts'

const longestPath = 500

/**
 * Logs a line for each request, without its query, headers and body, because they can contain secrets. `ctx.state.request`
 * identifies the request in other lines too.
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

/** Logs errors of requests, and an outage of the database once. Errors of closed connections have the level debug, because clients could flood the log with them. */
export function logErrors(app: Koa, log: Logger): void {
  const outage = new OutageLog(log)
  app.on('error', (error: unknown, ctx?: Context) => {
    if (ctx?.req.socket.destroyed && isOfConnection(error))
      log.debug(loggable(error), 'the client has disconnected')
    else if (isUnavailable(error)) outage.count(error, ctx?.state.request)
    else log.error({ ...loggable(error), request: ctx?.state.request }, 'error')
  })
}

function isOfConnection(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === 'write' || syscall === 'read' || code === 'ECONNRESET' || code === 'EPIPE'
}
