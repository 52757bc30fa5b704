import { page } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'

export function home(router: SiteRouter): void {
  router.get('/', (ctx) => page(ctx, 'home', {}))
}
