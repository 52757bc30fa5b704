import type { Context } from 'koa'

/** The bearer token of a request, or an empty string. */
export function bearer(ctx: Context): string {
  return /^Bearer +(\S+)$/i.exec(ctx.req.headers.authorization ?? '')?.[1] ?? ''
}

export function unauthorized(ctx: Context): void {
  ctx.status = 401
  ctx.set('WWW-Authenticate', 'Bearer')
  ctx.body = { error: 'Unauthorized' }
}
