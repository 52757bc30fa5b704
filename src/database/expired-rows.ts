import type { EntityClass, MikroORM } from '@mikro-orm/core'
import { deleteBatch } from './delete-batch.ts'
import { clockSkew } from './future-time.ts'

interface Expiring {
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** Deletes the expired rows of a table, and rows whose creation time is in the future because of a wrong clock. */
export class ExpiredRows<Entity extends Expiring> {
  readonly #orm: MikroORM
  readonly #entity: EntityClass<Entity>
  readonly #key: keyof Entity & string
  readonly #now: () => number

  /** @param key the property of the primary key */
  constructor(orm: MikroORM, entity: EntityClass<Entity>, key: keyof Entity & string, now = Date.now) {
    this.#orm = orm
    this.#entity = entity
    this.#key = key
    this.#now = now
  }

  /** Deletes a batch. Returns the number of deleted rows. */
  purge(limit = 500): Promise<number> {
    const now = this.#now()
    const where = {
      $or: [{ expiresAt: { $lte: new Date(now) } }, { createdAt: { $gt: new Date(now + clockSkew) } }],
    }
    return deleteBatch(this.#orm.em.fork(), this.#entity, { where, key: this.#key }, limit)
  }
}
