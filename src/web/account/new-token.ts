import type { Context } from 'koa'
import { entityManager } from '#auth/mikro-orm'
import { randomPart, storedToken, withChecksum } from '../../users/token-value.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'
import { HostCookie } from '../host-cookie.ts'
import type { SiteContext } from '../site-context.ts'
import type { NewTokenRecord } from '../views.ts'

const aMinute = 60_000

/**
 * Carries a new token from the form that made it to the page that shows it, once: in a cookie of the browser, because the
 * database must not know it. To load that page again neither makes another nor shows this one.
 */
export class NewToken {
  readonly #cookie: HostCookie

  constructor({ isTls }: { isTls: boolean }) {
    this.#cookie = new HostCookie('new-token', { isTls })
  }

  leave(ctx: SiteContext, token: string): void {
    this.#cookie.write(ctx as Context, randomPart(token), aMinute)
  }

  /** The token that was left, if it is one of whoever asks: the cookie by itself says nothing. */
  async take(ctx: SiteContext): Promise<NewTokenRecord | undefined> {
    const random = this.#cookie.read(ctx as Context)
    if (random === undefined) return undefined
    this.#cookie.clear(ctx as Context)
    const token = withChecksum(random)
    const value = storedToken(token)
    if (value === undefined) return undefined
    const { id: user } = ctx.auth.require(User)
    const found = await entityManager(ctx).findOne(UserToken, { value, user })
    return found ? { id: found.id, name: found.name, value: token, expiresAt: found.expiresAt } : undefined
  }
}
