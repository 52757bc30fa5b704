import type { Services } from '../../account/services.ts'
import { defaultName } from '../../config/storage.ts'
import { page } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    home: object
    demo: { trace: ReturnType<typeof traceOf> }
  }
}

/** `GET /`: welcomes visitors. A site without `SITE_NAME` demonstrates the package instead. */
export function home(router: SiteRouter, services: Services): void {
  router.get('/', (ctx) => {
    if (services.siteName !== defaultName) return page(ctx, 'home', {})
    return page(ctx, 'demo', { trace: traceOf(ctx) })
  })
}

/** What each part of the stack found in this request. */
function traceOf(ctx: SiteContext) {
  const { authorization, cookie = '' } = ctx.req.headers
  const scheme = authorization?.split(' ', 1)[0]?.toLowerCase()
  const headerFor = (name: string) => (scheme === name ? 'not accepted on a page' : 'no header')
  return {
    session: sessionResult(ctx, /(?:^|;\s*)(?:__Host-)?session=/.test(cookie)),
    // The authenticators of the header `Authorization`.
    header: [
      ['Basic', headerFor('basic')],
      ['Bearer', headerFor('bearer')],
      ['JWT', headerFor('bearer')],
    ],
    // The time from the first middleware to the handler, in milliseconds.
    ms: (performance.now() - (ctx.startedAt ?? 0)).toFixed(1),
  }
}

function sessionResult({ auth }: SiteContext, hasCookie: boolean): string {
  if (auth.failure !== undefined) return 'database unavailable'
  if (auth.get(User)) return 'identified you'
  return hasCookie ? 'cookie without a session' : 'no cookie'
}
