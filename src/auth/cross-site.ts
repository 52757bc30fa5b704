import type { IncomingMessage } from 'node:http'
import type { ExtendableContext, Next } from 'koa'
import { Forbidden, Misuse } from './errors.ts'

const checked = new WeakSet<IncomingMessage>()

/**
 * Responds with 403 to state-changing browser requests from another origin. Checks `Sec-Fetch-Site`. If it is missing,
 * checks `Origin`. A request with neither header passes, because it is not from a browser. Mount it before every authenticator.
 *
 * @param origin the site's origin, such as `https://example.org`; by default the origin of the request URL. Throws `Misuse` for a path.
 */
export function refuseCrossSite(origin?: string): (ctx: ExtendableContext, next: Next) => unknown {
  if (typeof origin === 'object') throw new Misuse('Call it: `app.use(refuseCrossSite())`, with parentheses.')
  if (origin !== undefined && URL.parse(origin)?.origin !== origin)
    throw new Misuse('Give an origin without a path, such as `https://example.org`.')
  return (ctx, next) => {
    if (isSafe(ctx.method)) return next()
    if (!isSameOrigin(ctx, origin))
      throw new Forbidden('This request came from another site, so it was rejected.', 'ERR_AUTH_CROSS_SITE')
    checked.add(ctx.req)
    return next()
  }
}

/** Whether a state-changing request has not passed `refuseCrossSite()`. Used only for a warning. */
export function lacksCrossSiteCheck({ method, req }: ExtendableContext): boolean {
  return !isSafe(method) && !checked.has(req)
}

/** Whether the method changes no state (RFC 9110 §9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE'
}

function isSameOrigin(ctx: ExtendableContext, origin: string | undefined): boolean {
  const site = ctx.req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const from = ctx.req.headers.origin
  // Not `ctx.origin`, because Koa 3 reads it from the `Origin` header.
  return from === undefined || from === (origin ?? `${ctx.protocol}://${ctx.host}`)
}
