import type Router from '@koa/router'
import { queried } from '../../site/query.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'
import { User } from '../../users/user.ts'
import { afterLogin, asked } from '../sign-in/after-sign-in.ts'

/** The pages that are only looked at. Their forms are posted to `/users`, `/login` and `/logout`. */
export function pages(router: Router<object, SiteContext>): void {
  router.get('/', (ctx) => page(ctx, 'home', {}))

  router.get('/signup', (ctx) => {
    const next = queried(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterLogin(next))
    return page(ctx, 'signup', { next: asked(next) })
  })

  router.get('/login', (ctx) => {
    const next = queried(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterLogin(next))
    if (next === undefined) return page(ctx, 'login', {})
    const notice = asked(next) && 'Sign in to see that page.'
    return page(ctx, 'login', { next: afterLogin(next), notice })
  })
}
