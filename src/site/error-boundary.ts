import type { Context, Middleware } from 'koa'
import { Unauthorized } from '#auth'
import { TryLater } from '../refusal.ts'
import { auditRefusedCredentials } from './audit.ts'
import { headersOf, type Problem, problem, problemOf } from './problem.ts'
import type { SiteContext } from './site-context.ts'
import { page } from './views.ts'
import { wantsPage } from './wants-page.ts'

/**
 * Turns whatever is thrown, and a status without a body, into a problem (RFC 9457) or a page that says the same. The
 * headers that were set before stay, the session's cookie among them: Koa's own handling would drop them.
 */
export function errorBoundary(): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      if (error instanceof Unauthorized) auditRefusedCredentials(ctx as SiteContext)
      // The answer is another one than the handler began. Of its cookies, the session's alone counts.
      ctx.remove('Location')
      ctx.remove('Clear-Site-Data')
      keepSessionCookie(ctx)
      ctx.set(headersOf(error))
      await answer(ctx, problemOf(error))
      // Whoever is told to come back later is no fault of ours, and a flood of them would fill the log.
      if (ctx.status >= 500 && !(error instanceof TryLater)) ctx.app.emit('error', error, ctx)
      return
    }
    if (ctx.status >= 400 && ctx.body == null) await answer(ctx, problem(ctx.status))
  }
}

function keepSessionCookie(ctx: Context): void {
  const cookies = [ctx.response.headers['set-cookie'] ?? []].flat()
  ctx.remove('Set-Cookie')
  const own = cookies.filter((each) => /^(__Host-)?session=/.test(each))
  if (own.length > 0) ctx.set('Set-Cookie', own)
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
