import type { Context, Middleware } from 'koa'
import { TryLater } from '../refusal.ts'
import { wantsPage } from './face.ts'
import { headersOf, type Problem, problem, problemOf } from './problem.ts'
import { page } from './views.ts'

/**
 * Turns whatever is thrown, and a status without a body, into a problem (RFC 9457) or a page that says the same. The
 * headers that were set before stay, the session's cookie among them: Koa's own handling would drop them.
 */
export function errorBoundary(): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      // What was to be answered is not what is: a session's cookie counts, these do not.
      ctx.remove('Location')
      ctx.remove('Clear-Site-Data')
      ctx.set(headersOf(error))
      await answer(ctx, problemOf(error))
      // Whoever is told to come back later is no fault of ours, and a flood of them would fill the log.
      if (ctx.status >= 500 && !(error instanceof TryLater)) ctx.app.emit('error', error, ctx)
      return
    }
    if (ctx.status >= 400 && ctx.body == null) await answer(ctx, problem(ctx.status))
  }
}

async function answer(ctx: Context, { ...found }: Problem): Promise<void> {
  if (wantsPage(ctx)) {
    await page(ctx, 'error', found)
    // The login page stands in for the browser's own password box, which this header would open.
    ctx.remove('WWW-Authenticate')
  } else {
    ctx.body = found
    ctx.type = 'application/problem+json'
  }
  ctx.status = found.status
}
