import type Router from '@koa/router'
import { page } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'

export function home(router: Router<object, SiteContext>): void {
  router.get('/', (ctx) => page(ctx, 'home', {}))
}
