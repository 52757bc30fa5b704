import type { Platform } from '@mikro-orm/core'
import { BasePostgreSqlPlatform } from '@mikro-orm/sqlite'

/** Whether the database is PostgreSQL, which locks rows. SQLite locks the whole database for each write. */
export function isPostgres(em: { getPlatform(): Platform }): boolean {
  return em.getPlatform() instanceof BasePostgreSqlPlatform
}
