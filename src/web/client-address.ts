import { isIP } from 'node:net'
import type { Middleware } from 'koa'
import proxyAddress from 'proxy-addr'
import type { TrustProxy } from '../config.ts'

/**
 * Makes `ctx.ip` the address of the client: of those in `X-Forwarded-For`, the first from the right that no proxy of
 * ours wrote its own into; without proxies of ours, whoever is connected. The rest of that header is the client's own
 * invention.
 */
export function clientAddress(proxies: TrustProxy): Middleware {
  const isTrusted =
    typeof proxies === 'number'
      ? (_address: string, hop: number) => hop < proxies
      : (address: string) =>
          isIP(address) > 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (ctx, next) => {
    const claimed = withoutMapping(
      proxyAddress(ctx.req, (address, hop) => isTrusted(withoutMapping(address), hop)),
    )
    ctx.request.ip = isIP(claimed) > 0 ? claimed : withoutMapping(ctx.req.socket.remoteAddress ?? '')
    return next()
  }
}

// A socket that takes both families shows IPv4 as `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2).
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
