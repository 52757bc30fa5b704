import { HostCookie, newIdentifier } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'

const minute = 60_000

/**
 * Passes a notice to the sign-in page after a password reset. The notice is in a cookie, because there is no session, and any
 * link could set a query parameter. The cookie has a random value and no meaning beyond its presence.
 */
export class SignInNotice {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('password-reset', { isTls })
  }

  store(ctx: SiteContext): void {
    this.#cookie.write(ctx, newIdentifier(), minute)
  }

  /** Returns the notice once. HEAD does not delete the cookie. */
  take(ctx: SiteContext): string | undefined {
    if (this.#cookie.read(ctx) === undefined) return undefined
    if (ctx.method === 'GET') this.#cookie.clear(ctx)
    return 'Your password has been changed. Sign in with the new password.'
  }
}
