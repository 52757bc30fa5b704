import type { MikroORM } from '@mikro-orm/core'
import type { Context, Middleware } from 'koa'

/** Whether the process is about to stop: it still serves, but wants no new traffic. */
export interface Lifecycle {
  isDraining: boolean
}

/** `GET /healthz`: the process serves. `GET /readyz`: its database answers, and it is not about to stop. */
export function health(orm: MikroORM, lifecycle: Lifecycle): Middleware {
  return (ctx, next) => (ctx.path === '/healthz' || ctx.path === '/readyz' ? answer(ctx) : next())

  async function answer(ctx: Context): Promise<void> {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.status = 405
      ctx.set('Allow', 'GET, HEAD')
      return
    }
    const isWell = ctx.path === '/healthz' || (!lifecycle.isDraining && (await orm.isConnected()))
    ctx.status = isWell ? 200 : 503
    if (!isWell) ctx.set('Retry-After', '5')
    ctx.body = isWell ? 'ok' : 'unavailable'
  }
}
