import type { Context, Next } from 'koa'
import { Refusal } from '../refusal.ts'

// A name, an IPv4 address or an IPv6 address in brackets, with an optional port (RFC 3986 §3.2.2 and §3.2.3).
const form = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Rejects a missing, repeated or invalid `Host` with 400 (RFC 9112 §3.2), and the target `*` except with OPTIONS. */
export function oneHost(ctx: Context, next: Next): Promise<unknown> {
  if (ctx.url === '*' && ctx.method !== 'OPTIONS')
    throw new Refusal('invalid_host', 'Request a path, such as `/`.')
  // Node keeps only the first `Host` header, but a proxy may have used another one.
  const { host: [host = '', ...others] = [] } = ctx.req.headersDistinct
  if (!form.test(host) || others.length > 0)
    throw new Refusal('invalid_host', 'Send exactly one valid Host header.')
  return next()
}
