import type { SiteContext } from './site-context.ts'

/** Answers with the way to another page (RFC 9110 §15.4.4). The path is one of ours, or `nextPath` proved it. */
export function seeOther(ctx: SiteContext, path: string): void {
  ctx.status = 303
  ctx.redirect(path)
}
