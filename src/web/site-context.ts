import type { AuthContext } from '#auth'

/** The context of the site's routes. */
export interface SiteContext extends AuthContext {
  session: {
    maxAge: number
    /** The identifier in the cookie. */
    readonly externalKey: string
    /** What the next page of the account has to say. */
    notice?: string | undefined
  }
  // What every page is told, and what koa-views adds.
  state: Record<string, unknown>
  render(view: string, locals: object): Promise<void>
}
