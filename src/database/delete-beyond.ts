import type { EntityManager } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

/** Which rows somebody may have: those that were used last, and one that stays whatever the clocks say. */
export interface Allowed {
  readonly user: string
  /** The digest of the one that stays. */
  readonly current: string
  /** How many there may be, that one among them. */
  readonly most: number
  /** What tells two apart that were used in the same millisecond. */
  readonly tie: 'id' | 'digest'
}

/**
 * Deletes what a user has beyond so many, as many again at most. In one statement, since it is asked for whenever somebody
 * signs in, and hardly ever is there any.
 *
 * @param table one that has `user_id`, `digest` and `seen_at`
 */
export async function deleteBeyond(
  em: EntityManager,
  table: 'sessions' | 'devices',
  { user, current, most, tie }: Allowed,
): Promise<void> {
  // Both drivers that the site runs on speak SQL.
  await (em as SqlEntityManager).execute(
    `delete from ${table} where user_id = ? and digest in (
       select digest from ${table} where user_id = ? and digest <> ?
       order by seen_at desc, ${tie} desc limit ? offset ?)`,
    [user, user, current, most, most - 1],
    'run',
  )
}
