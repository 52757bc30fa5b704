import type { EntityManager } from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'

/** Runs a statement, in the transaction of the entity manager if there is one, and returns its rows. */
export function execute<Row>(em: EntityManager, statement: string, values: string[] = []): Promise<Row[]> {
  // All of our databases speak SQL.
  return (em as SqlEntityManager).execute<Row[]>(statement, values)
}
