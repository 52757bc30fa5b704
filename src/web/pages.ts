import type Router from '@koa/router'
import { User } from '../users/user.ts'
import { afterLogin } from './after-login.ts'
import { seeOther } from './see-other.ts'
import type { SiteContext } from './site-context.ts'
import { page } from './views.ts'

/** The pages that are only looked at. Their forms are posted to `/users`, `/login` and `/logout`. */
export function pages(router: Router<object, SiteContext>): void {
  router.get('/', (ctx) => page(ctx, 'home', {}))

  router.get('/signup', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, '/account')
    return page(ctx, 'signup', {})
  })

  router.get('/login', (ctx) => {
    const next = afterLogin(ctx.query.next)
    if (ctx.auth.has(User)) return seeOther(ctx, next)
    const isSentHere = ctx.query.next !== undefined
    return page(ctx, 'login', isSentHere ? { next, notice: 'Sign in to see that page.' } : {})
  })
}
