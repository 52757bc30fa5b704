import type { IncomingMessage } from 'node:http'
import type { ExtendableContext, Next } from 'koa'
import { Forbidden, Misuse } from './errors.ts'

const checked = new WeakSet<IncomingMessage>()

/**
 * Refuses, with 403, a state-changing request that a browser sends from another origin: its `Sec-Fetch-Site` is neither
 * `same-origin` nor `none`, or it lacks that header and its `Origin` differs. A client that sends neither header is not a
 * browser, and passes. Belongs before every authenticator.
 *
 * @param origin the origin of the site, such as `https://example.org`, else it throws `Misuse`; by default the origin
 *   that the request was sent to
 */
export function refuseCrossSite(origin?: string): (ctx: ExtendableContext, next: Next) => unknown {
  if (origin !== undefined && URL.parse(origin)?.origin !== origin)
    throw new Misuse('Give an origin without a path, such as `https://example.org`.')
  return (ctx, next) => {
    if (isSafe(ctx.method)) return next()
    if (!isSameOrigin(ctx, origin))
      throw new Forbidden('This request came from another site, so it was not carried out.')
    checked.add(ctx.req)
    return next()
  }
}

/** Whether a state-changing request has not passed `refuseCrossSite()`; only a warning depends on it. */
export function lacksCrossSiteCheck({ method, req }: ExtendableContext): boolean {
  return !isSafe(method) && !checked.has(req)
}

// RFC 9110 §9.2.1
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE'
}

function isSameOrigin(ctx: ExtendableContext, origin: string | undefined): boolean {
  const site = ctx.req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const from = ctx.req.headers.origin
  // Koa 3 takes its `ctx.origin` from the `Origin` header.
  return from === undefined || from === (origin ?? `${ctx.protocol}://${ctx.host}`)
}
