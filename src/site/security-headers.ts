import type { Middleware } from 'koa'
import type { Config } from '../config/config.ts'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of every response, over TLS or not. */
export const headers = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not cached, because pages depend on the user. Static files override this header.
  'Cache-Control': 'no-store',
}

const always = new Map(Object.entries(headers))
const maxAge = 'max-age=63072000'

/** Sets the security headers of every response, including errors. Adds HSTS over TLS (RFC 6797 §7.2). */
export function securityHeaders(hsts: Config['hsts']): Middleware {
  const value = hsts === 'sub-domains' ? `${maxAge}; includeSubDomains` : maxAge
  const overTls = hsts === 'off' ? always : new Map([...always, ['Strict-Transport-Security', value]])
  return (ctx, next) => {
    ctx.res.setHeaders(ctx.isOverTls ? overTls : always)
    return next()
  }
}
