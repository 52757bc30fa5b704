import type { Layer } from '@koa/router'
import type { Middleware } from 'koa'

/** Answers 405 with `Allow` (RFC 9110 §15.5.6) where a route has the path and none the method. Stands behind the routes. */
export const methodNotAllowed: Middleware = (ctx, next) => {
  if (!ctx.matched?.length) return next()
  const matched: readonly Layer[] = ctx.matched
  const methods = new Set(matched.flatMap((layer) => layer.methods))
  ctx.set('Allow', [...methods].sort().join(', '))
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}
