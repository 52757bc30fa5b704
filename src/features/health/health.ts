import Router from '@koa/router'
import type { MikroORM } from '@mikro-orm/core'
import type { Context } from 'koa'
import { AttemptCount } from '../../throttle/attempt-count.ts'

// Visitors can request the check too, so it writes at most one row in this time. In milliseconds.
const remembered = 2_000

/**
 * `GET /healthz`: the process runs. `GET /readyz`: its database responds, and it is not draining. `GET /readyz?write`: the database also
 * stores a row. They have a router of their own, because health checks often have no `Host`, which the other routes require.
 */
export function health(orm: MikroORM, lifecycle: { readonly isDraining: boolean }) {
  const canWrite = writeCheck(orm)
  const router = new Router({ strict: true, sensitive: true })
  return router.all(['/healthz', '/readyz'], respond).routes()

  async function respond(ctx: Context): Promise<void> {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.status = 405
      ctx.set('Allow', 'GET, HEAD')
      return
    }
    const isHealthy = ctx.path === '/healthz' || (!lifecycle.isDraining && (await isReady(ctx)))
    ctx.status = isHealthy ? 200 : 503
    if (!isHealthy) ctx.set('Retry-After', '5')
    ctx.body = isHealthy ? 'ok' : 'unavailable'
  }

  async function isReady({ querystring }: Context): Promise<boolean> {
    return (await orm.isConnected()) && (querystring !== 'write' || canWrite())
  }
}

/** Returns a function that stores a row in the table of rate limits, whose purge deletes it. */
function writeCheck(orm: MikroORM): () => Promise<boolean> {
  const row = { id: 'readyz', used: 0, running: 0 }
  let last: { readonly at: number; readonly result: Promise<boolean> } | undefined
  return () => {
    const at = performance.now()
    if (last && at - last.at < remembered) return last.result
    const write = orm.em.fork().upsert(AttemptCount, { ...row, expiresAt: Date.now() + remembered })
    const result = write.then(
      () => true,
      () => false,
    )
    last = { at, result }
    return result
  }
}
