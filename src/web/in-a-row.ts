import type { Next } from 'koa'
import type { AuthContext, AuthMiddleware } from '#auth'

/** Middlewares that always stand together, as one: the router puts those of a route together anew for each request. */
export function inARow(...all: readonly AuthMiddleware[]): AuthMiddleware {
  return (ctx, next) => step(all, 0, ctx, next)
}

function step(all: readonly AuthMiddleware[], index: number, ctx: AuthContext, next: Next): unknown {
  const middleware = all[index]
  return middleware ? middleware(ctx, () => Promise.resolve(step(all, index + 1, ctx, next))) : next()
}
