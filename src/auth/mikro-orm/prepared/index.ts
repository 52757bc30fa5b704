import type { LookUps } from '../databases.ts'
import { PreparedQueries } from './prepared-queries.ts'
import { PreparedRequest } from './prepared-request.ts'

/**
 * Finds entities with prepared statements instead of `em.findOne`: `app.use(databases(orm, { lookUps: prepared() }))`. Uses
 * `em.findOne` for models, options and requests for which the result might differ.
 */
export function prepared(): LookUps {
  const queries = new PreparedQueries()
  return { start: (request) => new PreparedRequest(queries, request) }
}
