import { entityManager } from '#auth/mikro-orm'
import { HostCookie } from '../../site/host-cookie.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { hasCodesOf, recoveryCodesOf } from './recovery-codes.ts'

const minute = 60_000

/**
 * Passes new recovery codes from the form to the page that shows them once. A cookie contains their seed, because the database must
 * not contain the codes.
 */
export class NewRecoveryCodes {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('new-recovery-codes', { isTls })
  }

  store(ctx: SiteContext, seed: string): void {
    this.#cookie.write(ctx, seed, minute)
  }

  /** Returns the codes of the cookie once, if they belong to the user. HEAD does not delete the cookie. */
  async take(ctx: SiteContext): Promise<string[] | undefined> {
    const seed = this.#cookie.read(ctx)
    if (seed === undefined) return undefined
    if (ctx.method === 'GET') this.#cookie.clear(ctx)
    const isOwn = await hasCodesOf(entityManager(ctx), ctx.auth.require(User).id, seed)
    return isOwn ? recoveryCodesOf(seed) : undefined
  }
}
