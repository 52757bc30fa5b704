import type { AnySite } from '../people.ts'

/**
 * A site whose visitors repeat a request until its response is not 503, because a busy machine can exceed a time limit of the server.
 * The 503 of a proxy, which has no request id of the site, is returned.
 */
export function patient(site: AnySite): AnySite {
  const visitor = (session?: string) => {
    const visitor = site.visitor(session)
    const send = visitor.send.bind(visitor)
    visitor.send = async (...request) => {
      for (;;) {
        const answer = await send(...request)
        if (answer.status !== 503 || !answer.requestId) return answer
      }
    }
    return visitor
  }
  return { visitor }
}
