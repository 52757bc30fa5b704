import type { Layer } from '@koa/router'
import type { Middleware } from 'koa'

/** Answers 405 with `Allow` (RFC 9110 §15.5.6) where the path is known and the method is not. */
export const methodNotAllowed: Middleware = async (ctx, next) => {
  await next()
  if (ctx.status !== 404 || ctx.body != null || !ctx.matched?.length) return
  const matched: readonly Layer[] = ctx.matched
  const methods = new Set(matched.flatMap((layer) => layer.methods))
  ctx.set('Allow', [...methods].sort().join(', '))
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}
