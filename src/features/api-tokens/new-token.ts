import { entityManager } from '#auth/mikro-orm'
import { HostCookie } from '../../site/host-cookie.ts'
import type { NewTokenRecord } from '../../site/records.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { randomPart, storedToken, withChecksum } from '../../users/token-value.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'

const minute = 60_000

/**
 * Passes a new token from the form to the page that shows it once. The token is in a cookie, because the database must not
 * contain it.
 */
export class NewToken {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('new-token', { isTls })
  }

  store(ctx: SiteContext, { value }: NewTokenRecord): void {
    this.#cookie.write(ctx, randomPart(value), minute)
  }

  /** Returns the token in the cookie, if it belongs to the user. HEAD does not delete the cookie. */
  async take(ctx: SiteContext): Promise<NewTokenRecord | undefined> {
    const random = this.#cookie.read(ctx)
    if (random === undefined) return undefined
    if (ctx.method === 'GET') this.#cookie.clear(ctx)
    const token = withChecksum(random)
    const value = storedToken(token)
    if (value === undefined) return undefined
    const { id: user } = ctx.auth.require(User)
    const found = await entityManager(ctx).findOne(UserToken, { value, user })
    return found ? { id: found.id, name: found.name, value: token, expiresAt: found.expiresAt } : undefined
  }
}
