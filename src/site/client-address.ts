import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Context, Middleware, Next } from 'koa'
import proxyAddress from 'proxy-addr'
import type { TrustProxy } from '../config/addresses.ts'
import { Refusal } from '../refusal.ts'

/**
 * Sets `ctx.ip` to the address of the client. This is the peer of the connection if the peer is not a trusted proxy. Otherwise, it
 * is the right-most address in `X-Forwarded-For` that is not a trusted proxy, or the left-most one if all are trusted. The peer
 * replaces an invalid address.
 *
 * Sets `ctx.isFromProxy` if the peer is a trusted proxy, and `ctx.isOverTls` if the client uses TLS, to this server or to a trusted proxy.
 */
export function clientAddress(proxies: TrustProxy): Middleware {
  const isTrusted = trustedProxies(proxies)
  return (ctx, next) => {
    const { remoteAddress } = ctx.req.socket
    // The connection is closed, so no response can be sent.
    if (remoteAddress === undefined) return
    const claimed = withoutPort(proxyAddress(ctx.req, isTrusted))
    ctx.request.ip = withoutMapping(isIP(claimed) > 0 ? claimed : remoteAddress)
    ctx.isFromProxy = isTrusted(remoteAddress, 0)
    ctx.isOverTls = ctx.req.socket instanceof TLSSocket || (ctx.isFromProxy && isForwardedFromTls(ctx))
    return next()
  }
}

/** Returns a predicate for trusted proxies. `hop` is the number of proxies between the address and this server. */
export function trustedProxies(proxies: TrustProxy): (address: string, hop: number) => boolean {
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  const isListed = proxyAddress.compile([...proxies])
  return (address, hop) => isListed(withoutPort(address), hop)
}

/** Rejects Basic authentication without TLS (RFC 7617 §4). Use it before the authenticators. */
export function basicOverTlsOnly(ctx: Context, next: Next): Promise<unknown> {
  if (!ctx.isOverTls && hasBasic(ctx)) {
    throw new Refusal('tls_required', 'Send a password over TLS only.')
  }
  return next()
}

/**
 * Rejects Basic authentication in cross-origin requests of browsers. A link to `https://ada:guess@…` would make the browser of a
 * visitor guess a password. Other clients do not send `Sec-Fetch-Site`.
 */
export function refuseCrossSiteBasic(ctx: Context, next: Next): Promise<unknown> {
  const site = ctx.req.headers['sec-fetch-site'] ?? ''
  if (site !== '' && site !== 'same-origin' && site !== 'none' && hasBasic(ctx)) {
    throw new Refusal('cross_site', 'Requests from other sites cannot use Basic authentication.')
  }
  return next()
}

function hasBasic(ctx: Context): boolean {
  return /^basic\b/i.test(ctx.req.headers.authorization ?? '')
}

// The nearest proxy writes the last value.
function isForwardedFromTls({ req: { headers } }: Context): boolean {
  return /(?:^|,)\s*https\s*$/i.test(String(headers['x-forwarded-proto'] ?? ''))
}

// Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
function withoutPort(address: string): string {
  if (isIP(address) > 0) return address
  return address.replace(/^(?:(\d+(?:\.\d+){3})|\[([\da-f:.]+)\])(?::\d+)?$/i, '$1$2')
}

// A dual-stack socket reports IPv4 as `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2).
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
