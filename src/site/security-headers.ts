import type { Middleware } from 'koa'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Those that do not depend on the request. */
export const headers = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // What a page says may depend on who asks. Static files say otherwise.
  'Cache-Control': 'no-store',
}

const always = new Map(Object.entries(headers))
const overTls = new Map([...always, ['Strict-Transport-Security', 'max-age=63072000; includeSubDomains']])

/**
 * The headers of every answer, errors and redirects among them: nothing of another origin is loaded, nobody frames us,
 * and nothing is kept on disk. Who came by TLS is told to stay there (RFC 6797 §7.2).
 */
export const securityHeaders: Middleware = (ctx, next) => {
  ctx.res.setHeaders(ctx.state.isOverTls ? overTls : always)
  return next()
}
