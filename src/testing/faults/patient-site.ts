import type { AnySite } from '../people.ts'

/** A site whose visitors repeat a request until its response is not 503, because a busy machine can exceed a time limit of the server. */
export function patient(site: AnySite): AnySite {
  const visitor = (session?: string) => {
    const visitor = site.visitor(session)
    const send = visitor.send.bind(visitor)
    visitor.send = async (...request) => {
      for (;;) {
        const answer = await send(...request)
        if (answer.status !== 503) return answer
      }
    }
    return visitor
  }
  return { visitor }
}
