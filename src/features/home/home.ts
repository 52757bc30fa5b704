import type Router from '@koa/router'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'

/** `GET /`: the home page. */
export function home(router: Router<object, SiteContext>): void {
  router.get('/', (ctx) => page(ctx, 'home', {}))
}
