import { page } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'style-guide': object
  }
}

/** `GET /styleguide`: shows all components of the pages in all states. Not in production. */
export function styleGuide(router: SiteRouter): void {
  router.get('/styleguide', (ctx) => page(ctx, 'style-guide', {}))
}
