import { type EntityManager, TableNotFoundException } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

/** Runs a query. Returns no rows if its table does not exist. */
export async function select<Row extends object>(em: EntityManager, query: string): Promise<Row[]> {
  try {
    // Both drivers of the site are SQL drivers.
    return await (em as SqlEntityManager).execute<Row[]>(query)
  } catch (error) {
    if (error instanceof TableNotFoundException) return []
    throw error
  }
}
