/** Whether a URL is on this machine, where TLS is not needed. For development and tests. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

const maxBytes = 256 * 1024

/** The body of a provider's response. Throws if it has more than 256 KB. */
export async function readBody({ url, body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop early closes the connection.
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new TypeError(`${url} responds with more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
