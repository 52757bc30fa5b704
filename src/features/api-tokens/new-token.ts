import type { Context } from 'koa'
import { entityManager } from '#auth/mikro-orm'
import { HostCookie } from '../../site/host-cookie.ts'
import type { NewTokenRecord } from '../../site/records.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { randomPart, storedToken, withChecksum } from '../../users/token-value.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'

const minute = 60_000

/**
 * Carries a new token from the form that made it to the page that shows it, once: in a cookie, because the database must
 * not know it. To load that page again neither shows it again nor makes another.
 */
export class NewToken {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('new-token', { isTls })
  }

  leave(ctx: SiteContext, { value }: NewTokenRecord): void {
    this.#cookie.write(asKoas(ctx), randomPart(value), minute)
  }

  /** The token that was left, if it is one of whoever asks: the cookie by itself says nothing. */
  async take(ctx: SiteContext): Promise<NewTokenRecord | undefined> {
    const random = this.#cookie.read(asKoas(ctx))
    if (random === undefined) return undefined
    // HEAD shows nothing to anybody.
    if (ctx.method === 'GET') this.#cookie.clear(asKoas(ctx))
    const token = withChecksum(random)
    const value = storedToken(token)
    if (value === undefined) return undefined
    const { id: user } = ctx.auth.require(User)
    const found = await entityManager(ctx).findOne(UserToken, { value, user })
    return found ? { id: found.id, name: found.name, value: token, expiresAt: found.expiresAt } : undefined
  }
}

// The cookie's class wants Koa's widest context; it reads no more than this one has.
function asKoas(ctx: SiteContext): Context {
  return ctx as unknown as Context
}
