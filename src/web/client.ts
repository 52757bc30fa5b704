import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Context, Middleware, Next } from 'koa'
import type { TrustProxy } from '../config.ts'
import { Refusal } from '../refusal.ts'

/**
 * Finds out who is at the other end. `ctx.ip` becomes the address of the client: of those in `X-Forwarded-For`, the first
 * from the right that no proxy of ours wrote its own into; without proxies of ours, whoever is connected. The rest of
 * that header is the client's own invention. `ctx.state.isOverTls` is whether it speaks TLS, to us or to a proxy of ours.
 */
export function client(proxies: TrustProxy): Middleware {
  const isTrusted = trustIn(proxies)
  return (ctx, next) => {
    const { remoteAddress } = ctx.req.socket
    // Whoever has hung up by now is nobody, and does not wait for an answer.
    if (remoteAddress === undefined) return
    const peer = withoutMapping(remoteAddress)
    const claimed = withoutMapping(withoutPort(claimedAddress(ctx, peer, isTrusted)))
    ctx.request.ip = isIP(claimed) > 0 ? claimed : peer
    ctx.state.isOverTls =
      ctx.req.socket instanceof TLSSocket || (isTrusted(peer, 0) && isForwardedFromTls(ctx))
    return next()
  }
}

/** Refuses a password in the header where anybody on the way can read it (RFC 7617 §4). Stands before the authenticators. */
export function basicOverTlsOnly(ctx: Context, next: Next): Promise<unknown> {
  if (!ctx.state.isOverTls && hasBasic(ctx)) {
    throw new Refusal(403, 'Send a password over TLS only: this connection can be read on its way.')
  }
  return next()
}

/**
 * Refuses a password in the header that another site had a browser send, whatever the method: a link to
 * `https://ada:guess@…` would be a guess of whoever follows it. What is no browser has no `Sec-Fetch-Site`.
 */
export function basicFromHereOnly(ctx: Context, next: Next): Promise<unknown> {
  const site = ctx.req.headers['sec-fetch-site'] ?? ''
  if (site !== '' && site !== 'same-origin' && site !== 'none' && hasBasic(ctx)) {
    throw new Refusal(403, 'This password came from another site, so it was not looked at.')
  }
  return next()
}

function hasBasic(ctx: Context): boolean {
  return /^basic\b/i.test(ctx.req.headers.authorization ?? '')
}

/** Whether we believe the proxy at that address, so many hops from us, in what it says of whoever is behind it. */
type Trust = (address: string, hop: number) => boolean

function trustIn(proxies: TrustProxy): Trust {
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  return (address) => {
    const plain = withoutMapping(withoutPort(address))
    return isIP(plain) > 0 && proxies.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
  }
}

// Each proxy writes at the end whom it has its request from.
function claimedAddress({ req: { headers } }: Context, peer: string, isTrusted: Trust): string {
  const all = String(headers['x-forwarded-for'] ?? '')
  let address = peer
  let hop = 0
  let end = all.length
  while (end > 0 && isTrusted(address, hop)) {
    const start = all.lastIndexOf(',', end - 1) + 1
    const entry = all.slice(start, end).trim()
    end = start - 1
    // Of a list, empty elements count for nothing (RFC 9110 §5.6.1).
    if (entry === '') continue
    address = entry
    hop += 1
  }
  return address
}

// The proxy next to us wrote the last one.
function isForwardedFromTls({ req: { headers } }: Context): boolean {
  return /(?:^|,)\s*https\s*$/i.test(String(headers['x-forwarded-proto'] ?? ''))
}

// Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
function withoutPort(address: string): string {
  if (isIP(address) > 0) return address
  return address.replace(/^(?:(\d+(?:\.\d+){3})|\[([\da-f:.]+)\])(?::\d+)?$/i, '$1$2')
}

// A socket that takes both families shows IPv4 as `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2).
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
