import type { MikroORM } from '@mikro-orm/core'
import { deleteBatch } from '../database/delete-batch.ts'
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
  purge(most = 500): Promise<number> {
    const where = { expiresAt: { $lte: new Date(this.#now()) } }
    return deleteBatch(this.#orm.em.fork(), UserToken, { where, key: 'value' }, most)
  }
}
