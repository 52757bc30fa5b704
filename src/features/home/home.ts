import { defaultSiteName } from '../../config/storage.ts'
import { page } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'

/** `GET /`: welcomes visitors. A site without `SITE_NAME` demonstrates the package instead. */
export function home(router: SiteRouter): void {
  router.get('/', (ctx) => (ctx.siteName === defaultSiteName ? page(ctx, 'demo', {}) : page(ctx, 'home', {})))
}
