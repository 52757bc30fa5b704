import { validate as isUUID } from 'uuid'
import { Refusal } from '../refusal.ts'

interface Matched {
  readonly params: Readonly<Record<string, string | undefined>>
}

/**
 * The id in the path of a request, for a route such as `/account/notes/:id`.
 * @throws {Refusal} 404 if it is not a UUID, because no row has such an id, and PostgreSQL rejects it
 */
export function pathId({ params }: Matched, name = 'id'): string {
  const id = params[name] ?? ''
  if (!isUUID(id)) throw new Refusal(404, 'This page does not exist.')
  return id.toLowerCase()
}
