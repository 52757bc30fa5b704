import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import type { Auth } from '#auth'
import { countStatements } from '../database/statements.ts'
import { type Logger, loggable } from '../log/log.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import type { AuditEvent } from './audit.ts'
import { OutageLog } from './outage-log.ts'
import { databaseErrorOf } from './problem.ts'

const longestPath = 500

/** A request whose response is ready. */
export interface FinishedRequest {
  readonly ctx: Context
  /** The start by `performance.now()`, in milliseconds. */
  readonly start: number
  /** In seconds. */
  readonly duration: number
}

/** Publishes each `FinishedRequest`. */
export const requestFinished = channel('koa-authenticators:request')

// The session is stored or deleted after the handler. If that fails, these events did not happen.
const sessionEvents = ['signed in', 'signed out']

/**
 * Writes the events of each request to the audit trail. Logs a line for each request in the names of OpenTelemetry, without its query,
 * headers and body, because they can contain secrets.
 * `ctx.requestId` and the response header `X-Request-Id` identify the request, also in other lines. A trusted proxy can set this
 * id, and the trace of the request.
 */
export function requestLog(log: Logger, trail: { record(event: AuditEvent): Promise<void> }): Middleware {
  return async (ctx, next) => {
    const start = performance.now()
    const id = ctx.isFromProxy ? ctx.get('X-Request-Id') : ''
    const request = /^[\w.:-]{8,36}$/.test(id) ? id : randomUUID()
    ctx.requestId = request
    ctx.startedAt = start
    ctx.set('X-Request-Id', request)
    const statements = { count: 0, duration: 0 }
    await countStatements(statements, async () => {
      await next()
      const origin = { request, address: ctx.ip, userAgent: ctx.get('User-Agent') }
      for (const each of ctx.events ?? [])
        if (ctx.status < 400 || !sessionEvents.includes(each.event))
          await trail.record({ ...each, ...origin })
    })
    const duration = (performance.now() - start) / 1000
    const finished: FinishedRequest = { ctx, start, duration }
    requestFinished.publish(finished)
    const trace = ctx.isFromProxy ? traceOf(ctx) : undefined
    const line = {
      request,
      // pino omits what is undefined.
      trace_id: trace?.trace_id,
      span_id: trace?.span_id,
      'client.address': ctx.ip,
      'user.id': userOf(ctx),
      'http.request.method': ctx.method,
      'http.route': routeOf(ctx),
      'url.path': ctx.path.slice(0, longestPath),
      'http.response.status_code': ctx.status,
      // In seconds.
      'http.server.request.duration': rounded(duration),
      'db.client.operation.count': statements.count,
      'db.client.operation.duration': rounded(statements.duration),
    }
    log.info(line, 'request')
  }
}

/** Seconds with four decimal places. */
function rounded(seconds: number): number {
  return Math.round(seconds * 10_000) / 10_000
}

/** The template of the path, such as `/account/tokens/:id`. `undefined` for files and unknown paths. */
export function routeOf(ctx: Context): string | undefined {
  // Of @koa/router.
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : undefined
}

function userOf({ auth }: { auth?: Auth }): string | undefined {
  return (auth?.peek(User) ?? auth?.peek(Admin))?.id
}

/** The ids of `traceparent` (https://www.w3.org/TR/trace-context). */
function traceOf(ctx: Context): { trace_id: string; span_id: string } | undefined {
  const [, trace_id, span_id] =
    /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(ctx.get('traceparent')) ?? []
  return trace_id && span_id ? { trace_id, span_id } : undefined
}

/** Logs errors of requests, and an outage of the database once. Errors of closed connections have the level debug, because clients could flood the log with them. */
export function logErrors(app: Koa, log: Logger): void {
  const outage = new OutageLog(log)
  app.on('error', (error: unknown, ctx?: Context) => {
    const cause = databaseErrorOf(error)
    if (ctx?.req.socket.destroyed && isOfConnection(error))
      log.debug(loggable(error), 'the client has disconnected')
    else if (cause) outage.count(error, ctx?.requestId, cause.code)
    else log.error({ ...loggable(error), request: ctx?.requestId }, 'error')
  })
}

function isOfConnection(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === 'write' || syscall === 'read' || code === 'ECONNRESET' || code === 'EPIPE'
}
