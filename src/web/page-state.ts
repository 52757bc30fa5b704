import type { Next } from 'koa'
import { User } from '../users/user.ts'
import type { SiteContext } from './site-context.ts'
import type { Common } from './views.ts'

/** What every page is told, found out when it is rendered: who is signed in then, or that nobody can tell. */
export function pageState(origin: string | undefined) {
  return (ctx: SiteContext, next: Next) => {
    ctx.state.page = (): Common => {
      const isUnsure = ctx.auth.failure !== undefined
      const user = isUnsure ? undefined : ctx.auth.get(User)
      return {
        user: user && { name: user.name, email: user.email },
        unsure: isUnsure,
        origin: origin ?? `${ctx.protocol}://${ctx.host}`,
      }
    }
    return next()
  }
}
