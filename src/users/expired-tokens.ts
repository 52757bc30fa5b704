import type { MikroORM } from '@mikro-orm/core'
import { UserToken } from './user-token.ts'

/** Tokens that have expired. One that is used again is deleted then; the others wait for this. */
export class ExpiredTokens {
  readonly #orm: MikroORM
  readonly #now: () => number

  constructor(orm: MikroORM, now = Date.now) {
    this.#orm = orm
    this.#now = now
  }

  /** Deletes a batch of them. Returns how many there were. */
  async purge(most = 500): Promise<number> {
    const em = this.#orm.em.fork()
    const expired = await em.find(
      UserToken,
      { expiresAt: { $lte: new Date(this.#now()) } },
      { limit: most, fields: ['id'], filters: false },
    )
    if (expired.length === 0) return 0
    return em.nativeDelete(UserToken, { id: { $in: expired.map(({ id }) => id) } })
  }
}
