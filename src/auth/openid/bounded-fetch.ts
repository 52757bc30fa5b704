import { readBody } from '../provider-response.ts'

/**
 * `fetch` with a limit for the size of the answer. Gives an answer like GitHub's, which reports errors with the status 200, the status
 * 400 (RFC 6749 §5.2).
 */
export async function boundedFetch(url: string, init: object): Promise<Response> {
  const response = await fetch(url, init)
  const bytes = await readBody(response)
  const { status, headers } = response
  const isHidden = status === 200 && bytes.length < 4096 && /^\s*\{\s*"error"\s*:/.test(bytes.toString())
  const hasBody = status !== 204 && status !== 304
  return new Response(hasBody ? new Uint8Array(bytes) : null, { status: isHidden ? 400 : status, headers })
}
