import type { ExtendableContext } from 'koa'

/**
 * Which of its two faces a route shows (HTTP contract, "One application, two faces"): an `Authorization` header gets
 * JSON; else a form body, or an `Accept` that prefers HTML, gets the page; everything else gets JSON.
 */
export function wantsPage(ctx: ExtendableContext): boolean {
  if (ctx.req.headers.authorization !== undefined) return false
  return Boolean(ctx.is('urlencoded')) || ctx.accepts(['json', 'html']) === 'html'
}
