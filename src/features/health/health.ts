import type { MikroORM } from '@mikro-orm/core'
import type { Context, Middleware } from 'koa'

/** The state of the process. A draining process still serves requests, but reports that it is not ready. */
export interface Lifecycle {
  isDraining: boolean
}

/** `GET /healthz`: the process runs. `GET /readyz`: its database responds, and it is not draining. */
export function health(orm: MikroORM, lifecycle: Lifecycle): Middleware {
  return (ctx, next) => (ctx.path === '/healthz' || ctx.path === '/readyz' ? respond(ctx) : next())

  async function respond(ctx: Context): Promise<void> {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.status = 405
      ctx.set('Allow', 'GET, HEAD')
      return
    }
    const isHealthy = ctx.path === '/healthz' || (!lifecycle.isDraining && (await orm.isConnected()))
    ctx.status = isHealthy ? 200 : 503
    if (!isHealthy) ctx.set('Retry-After', '5')
    ctx.body = isHealthy ? 'ok' : 'unavailable'
  }
}
