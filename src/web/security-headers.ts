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

const headers = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // What a page says may depend on who asks. Static files say otherwise.
  'Cache-Control': 'no-store',
}

/**
 * The headers of every answer, errors and redirects among them: nothing of another origin is loaded, nobody frames us,
 * and nothing is kept on disk. Behind TLS, browsers are told to stay there (RFC 6797).
 */
export function securityHeaders({ isTls }: { isTls: boolean }): Middleware {
  const all = isTls
    ? { ...headers, 'Strict-Transport-Security': 'max-age=63072000; includeSubDomains' }
    : headers
  return (ctx, next) => {
    ctx.set(all)
    return next()
  }
}
