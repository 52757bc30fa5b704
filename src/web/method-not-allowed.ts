import type { RouterContext } from '@koa/router'
import type { Next } from 'koa'

/** Answers 405 with `Allow` (RFC 9110 §15.5.6) where the path is known and the method is not. */
export async function methodNotAllowed(ctx: RouterContext, next: Next): Promise<void> {
  await next()
  if (ctx.status !== 404 || ctx.body != null || !ctx.matched?.length) return
  const methods = new Set(ctx.matched.flatMap((layer) => layer.methods))
  if (methods.size === 0 || methods.has(ctx.method)) return
  ctx.set('Allow', [...methods].sort().join(', '))
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
}
