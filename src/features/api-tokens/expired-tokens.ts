import type { MikroORM } from '@mikro-orm/core'
import { deleteBatch } from '../../database/delete-batch.ts'
import { clockSkew } from '../../database/future-time.ts'
import { UserToken } from '../../users/user-token.ts'

/** Deletes expired tokens, and tokens from the future. */
export class ExpiredTokens {
  readonly #orm: MikroORM
  readonly #now: () => number

  constructor(orm: MikroORM, now = Date.now) {
    this.#orm = orm
    this.#now = now
  }

  /** Deletes a batch. Returns the number of deleted tokens. */
  purge(most = 500): Promise<number> {
    const now = this.#now()
    const where = {
      $or: [{ expiresAt: { $lte: new Date(now) } }, { createdAt: { $gt: new Date(now + clockSkew) } }],
    }
    return deleteBatch(this.#orm.em.fork(), UserToken, { where, key: 'value' }, most)
  }
}
