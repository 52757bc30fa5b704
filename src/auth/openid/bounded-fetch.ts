/** Whether a URL is on this machine, where TLS is not needed. For development and tests. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

const maxBytes = 256 * 1024

/**
 * `fetch` with a limit for the size of the answer. Gives an answer like GitHub's, which reports errors with the status 200, the status
 * 400 (RFC 6749 §5.2).
 */
export async function boundedFetch(url: string, init: object): Promise<Response> {
  const response = await fetch(url, init)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new TypeError('The answer of the identity provider is too long.')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const { status, headers } = response
  const isHidden = status === 200 && bytes.length < 4096 && /^\s*\{\s*"error"\s*:/.test(bytes.toString())
  return new Response(hasNoBody(status) ? null : bytes, { status: isHidden ? 400 : status, headers })
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}
