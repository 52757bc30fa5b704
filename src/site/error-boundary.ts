import type { Context, Middleware } from 'koa'
import { challengesOf, Unauthorized } from '#auth'
import { codeOf, Refusal, TryLater } from '../refusal.ts'
import { auditRefusedCredentials } from './audit.ts'
import { page, wantsPage } from './page.ts'
import { headersOf, type Problem, problem, problemOf } from './problem.ts'

/**
 * Converts errors, and responses with an error status but no body, to a problem (RFC 9457) or an error page. Unlike Koa's own
 * handler, it keeps the session cookie and most headers of the response.
 */
export const errorBoundary: Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    if (error instanceof Unauthorized) auditRefusedCredentials(ctx)
    // The handler may have set these headers for a success.
    ctx.remove('Location')
    ctx.remove('Clear-Site-Data')
    keepSessionCookie(ctx)
    // RFC 9110 §15.5.2.
    if (error instanceof Refusal && error.status === 401 && ctx.auth)
      ctx.set('WWW-Authenticate', challengesOf(ctx).join(', '))
    ctx.set(headersOf(error))
    await respond(ctx, problemOf(error, ctx.requestId))
    // `TryLater` is not a defect, and would fill the log during a flood of requests.
    if (ctx.status >= 500 && !(error instanceof TryLater)) ctx.app.emit('error', error, ctx)
    return
  }
  if (ctx.status >= 400 && ctx.body == null) await respond(ctx, problem(codeOf(ctx.status), detailOf(ctx)))
}

function detailOf({ status, response }: Context): string | undefined {
  return status === 405 ? `Method not allowed. This URL accepts ${response.get('Allow')}.` : undefined
}

function keepSessionCookie(ctx: Context): void {
  const cookies = [ctx.response.headers['set-cookie'] ?? []].flat()
  ctx.remove('Set-Cookie')
  const own = cookies.filter((each) => /^(__Host-)?session=/.test(each))
  if (own.length > 0) ctx.set('Set-Cookie', own)
}

async function respond(ctx: Context, { ...found }: Problem): Promise<void> {
  if (wantsPage(ctx)) {
    await page(ctx, 'error', { ...found, canRetry: ctx.method === 'GET' })
    // Otherwise, the browser would show its own password dialog.
    ctx.remove('WWW-Authenticate')
  } else {
    ctx.body = found
    ctx.type = 'application/problem+json'
  }
  ctx.status = found.status
}
