import type { EntityClass, EntityManager } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

/** A limit on the rows of a user. The most recently used rows remain. */
export interface RowLimit {
  readonly user: string
  /** The digest of the row that always remains. */
  readonly current: string
  /** The number of rows that remain, including the current one. */
  readonly limit: number
  /** The column that orders rows of the same millisecond. */
  readonly tie: 'id' | 'digest'
}

/**
 * Keeps the current row of a user and the most recently used others, `limit` in total. Deletes at most `limit` rows, in one
 * statement.
 *
 * @param entity an entity whose table has the columns `user_id`, `digest` and `seen_at`
 */
export async function deleteBeyond(
  em: EntityManager,
  entity: EntityClass<object>,
  { user, current, limit, tie }: RowLimit,
): Promise<void> {
  const { tableName: table } = em.getMetadata().get(entity)
  // Both drivers of the site are SQL drivers.
  await (em as SqlEntityManager).execute(
    `delete from ${table} where user_id = ? and digest in (
       select digest from ${table} where user_id = ? and digest <> ?
       order by seen_at desc, ${tie} desc limit ? offset ?)`,
    [user, user, current, limit, limit - 1],
    'run',
  )
}
