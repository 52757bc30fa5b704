import type { EntityManager } from '@mikro-orm/core'
import { BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

/** Whether it is PostgreSQL, where many write at a time. With SQLite everybody waits for whoever writes. */
export function isPostgres(em: EntityManager): boolean {
  return em.getPlatform() instanceof BasePostgreSqlPlatform
}
