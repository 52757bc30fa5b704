import type { Next } from 'koa'
import { User } from '../users/user.ts'
import type { SiteContext } from './site-context.ts'
import type { Common } from './views.ts'

/** What every page is told, found out when it is rendered: who is signed in then, or that nobody can tell. */
export function pageState(origin: string | undefined) {
  return (ctx: SiteContext, next: Next) => {
    ctx.state.page = new PageState(ctx, origin)
    return next()
  }
}

// A class, and no object with functions of its own: V8 would keep one for every request until it collects everything.
class PageState {
  readonly #ctx: SiteContext
  readonly #origin: string | undefined

  constructor(ctx: SiteContext, origin: string | undefined) {
    this.#ctx = ctx
    this.#origin = origin
  }

  tell(): Common {
    const { auth, protocol, host } = this.#ctx
    const isUnsure = auth.failure !== undefined
    const user = isUnsure ? undefined : auth.get(User)
    return {
      user: user && { name: user.name, email: user.email },
      unsure: isUnsure,
      origin: this.#origin ?? `${protocol}://${host}`,
    }
  }
}
