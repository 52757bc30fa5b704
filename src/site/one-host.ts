import type { Context, Next } from 'koa'
import { Refusal } from '../refusal.ts'

// RFC 3986 §3.2.2 and §3.2.3: a name, an IPv4 address, or an IPv6 address in brackets; and perhaps a port.
const form = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Refuses a request without a `Host`, with two, or with one that is none, and one for nothing (RFC 9112 §3.2). */
export function oneHost(ctx: Context, next: Next): Promise<unknown> {
  if (ctx.url === '*' && ctx.method !== 'OPTIONS') throw new Refusal(400, 'Ask for a path, such as `/`.')
  if (!form.test(ctx.req.headers.host ?? '') || isRepeated(ctx)) throw new Refusal(400, 'Send one Host.')
  return next()
}

// Node keeps the first of two and drops the other; a proxy may have gone by the other.
function isRepeated({ req: { rawHeaders } }: Context): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}
