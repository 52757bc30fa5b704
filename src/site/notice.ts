import type { SiteContext } from './site-context.ts'

/**
 * Has the next page of the account say something, once. It waits in the session, so that no link from elsewhere can put
 * words into our mouth.
 */
export function leaveNotice(ctx: SiteContext, notice: string): void {
  ctx.session.notice = notice
}

/** What that page has to say. */
export function takeNotice({ session, method }: SiteContext): string | undefined {
  const { notice } = session
  // HEAD shows nothing to anybody.
  if (method === 'GET') delete session.notice
  return notice
}
