import { entityManager } from '#auth/mikro-orm'
import { HostCookie } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { hasCodesOf, recoveryCodesOf } from './recovery-codes.ts'

const lifetime = 10 * 60_000

/**
 * Passes new recovery codes from a form to the page that shows them. Their seed is in a cookie, because the database must not contain
 * them. A reload shows them again until the user leaves the page, because phones reload pages in the background.
 */
export class NewRecoveryCodes {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('new-recovery-codes', { isTls })
  }

  store(ctx: SiteContext, seed: string): void {
    this.#cookie.write(ctx, seed, lifetime)
  }

  /** The codes of the cookie, if they are codes of the user. */
  async read(ctx: SiteContext): Promise<string[] | undefined> {
    const seed = this.#cookie.read(ctx)
    if (seed === undefined) return undefined
    const isOwn = await hasCodesOf(entityManager(ctx), ctx.auth.require(User).id, seed)
    return isOwn ? recoveryCodesOf(seed) : undefined
  }

  /** Ends the time in which the page shows the codes. HEAD does not. */
  clear(ctx: SiteContext): void {
    if (ctx.method === 'GET' && this.#cookie.read(ctx) !== undefined) this.#cookie.clear(ctx)
  }
}
