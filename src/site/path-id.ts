import { validate as isUUID } from 'uuid'
import { Refusal } from '../refusal.ts'

/**
 * The id in the path of a request, for a route such as `/account/notes/:id`.
 * @throws {Refusal} 404 with `detail` if it is not a UUID, because no row has such an id, and PostgreSQL rejects it
 */
export function pathId({ params: { id = '' } }: { params: { id?: string } }, detail?: string): string {
  if (!isUUID(id)) throw new Refusal(404, detail)
  return id.toLowerCase()
}
