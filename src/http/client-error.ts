import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { problem } from '../site/problem.ts'
import { headers } from '../site/security-headers.ts'
import type { Connections } from './connections.ts'

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Answers what Node's parser refuses (RFC 9112 §6.3: ambiguous framing, or no HTTP) with the headers and the problem of
 * every other refusal, and closes the connection. After complete requests, only their responses are sent.
 *
 * @param linger how long the client has to read the answer, in milliseconds
 */
export function answerClientErrors(server: Server, connections: Connections, linger: number): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    // Nothing more is parsed, but reading goes on: unread data would reset the connection before the response is read.
    socket.removeAllListeners('data').on('data', () => {})
    if (socket instanceof Socket && connections.closeAfterResponses(socket)) return
    const found = problem(statuses[error.code ?? ''] ?? 400)
    const body = JSON.stringify(found)
    const lines = Object.entries({
      ...headers,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`)
    socket.end(`HTTP/1.1 ${found.status} ${found.title}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    const late = setTimeout(() => socket.destroy(), linger).unref()
    socket.once('close', () => clearTimeout(late))
  })
}
