import { ProviderError } from '../errors.ts'
import { readBody } from '../provider-response.ts'

/**
 * `fetch` with a limit for the size of the answer. Gives an answer like GitHub's, which reports errors with the status 200, the status
 * 400 (RFC 6749 §5.2).
 *
 * @throws {ProviderError} for malformed JSON. The error of a JSON parser quotes the text, which may contain a token
 */
export async function boundedFetch(url: string, init: object): Promise<Response> {
  const response = await fetch(url, init)
  const bytes = await readBody(response)
  const { status, headers } = response
  const text = bytes.toString()
  if (/\bjson\b/.test(headers.get('content-type') ?? '') && !isJSON(text))
    throw new ProviderError(`${url} responds with malformed JSON.`)
  const isHidden = status === 200 && bytes.length < 4096 && /^\s*\{\s*"error"\s*:/.test(text)
  return new Response(text ? new Uint8Array(bytes) : null, { status: isHidden ? 400 : status, headers })
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
