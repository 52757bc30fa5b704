import type { Next } from 'koa'
import { User } from '../users/user.ts'
import type { SiteContext } from './site-context.ts'

/** What every page is told, read when it is rendered: who is signed in then, or that nobody can tell. */
export function pageState(origin: string | undefined) {
  return (ctx: SiteContext, next: Next) => {
    ctx.state.page = {
      get user() {
        if (ctx.auth.failure) return undefined
        const user = ctx.auth.get(User)
        return user && { name: user.name, email: user.email }
      },
      get unsure() {
        return ctx.auth.failure !== undefined
      },
      origin: origin ?? `${ctx.protocol}://${ctx.host}`,
    }
    return next()
  }
}
