import type { EntityClass, MikroORM } from '@mikro-orm/core'
import { clockSkew } from '../durations.ts'
import { deleteBatch } from './delete-batch.ts'
import type { Purgeable } from './purge.ts'

interface Expiring {
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The condition for rows that are valid now. Rows created over two minutes in the future are invalid, because a clock was wrong. */
export function unexpired(now = Date.now()) {
  return { expiresAt: { $gt: new Date(now) }, createdAt: { $lte: new Date(now + clockSkew) } }
}

/** Deletes the expired rows of a table, and rows created over two minutes in the future. */
export function expiredRows(orm: MikroORM, entity: EntityClass<Expiring>, clock = Date.now): Purgeable {
  return {
    purge(limit) {
      const now = clock()
      const inFuture = { createdAt: { $gt: new Date(now + clockSkew) } }
      return deleteBatch(orm.em.fork(), entity, [{ expiresAt: { $lte: new Date(now) } }, inFuture], limit)
    },
  }
}
