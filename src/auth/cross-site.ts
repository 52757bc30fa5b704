import type { ExtendableContext, Next } from 'koa'
import { Forbidden, Misuse } from './errors.ts'

/**
 * Refuses, with 403, a state-changing request that a browser sends from another site (HTTP contract, "Form posts from
 * other sites"): one whose `Sec-Fetch-Site` is neither `same-origin` nor `none`, or that has no such header and an
 * `Origin` that is not ours. Clients that send neither are not browsers, and pass. Stands before every authenticator.
 *
 * @param origin ours, as in `https://example.org`, else it throws `Misuse`; without it, the origin that the request was sent to
 */
export function refuseCrossSite(origin?: string): (ctx: ExtendableContext, next: Next) => unknown {
  if (origin !== undefined && URL.parse(origin)?.origin !== origin)
    throw new Misuse('Give an origin and nothing more, such as `https://example.org`.')
  return (ctx, next) => {
    if (!isSafe(ctx.method) && !isOurs(ctx, origin)) {
      throw new Forbidden('This request came from another site, so it was not carried out.')
    }
    return next()
  }
}

// RFC 9110 §9.2.1
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE'
}

function isOurs(ctx: ExtendableContext, origin: string | undefined): boolean {
  const site = ctx.req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const from = ctx.req.headers.origin
  // Not Koa's `ctx.origin`, which since version 3 is what the request claims.
  return from === undefined || from === (origin ?? `${ctx.protocol}://${ctx.host}`)
}
