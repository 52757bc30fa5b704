import type { Context, Next } from 'koa'
import { Refusal } from '../refusal.ts'

// RFC 3986 §3.2.2 and §3.2.3: a name, an IPv4 address, or an IPv6 address in brackets; and perhaps a port.
const form = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Refuses a request without a `Host`, with two, or with one that is none (RFC 9112 §3.2). */
export function oneHost(ctx: Context, next: Next): Promise<unknown> {
  const hosts = ctx.req.headersDistinct.host ?? []
  if (hosts.length !== 1 || !form.test(hosts[0] ?? '')) throw new Refusal(400, 'Send one Host.')
  return next()
}
