import type { Server } from 'node:http'
import { Socket } from 'node:net'
import type { ProblemCode } from '../refusal.ts'
import { problem } from '../site/problem.ts'
import { headers } from '../site/security-headers.ts'
import type { Connections } from './connections.ts'

// An import would load `fetch` too, which slows the start and takes memory.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const codes: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * Responds to parser errors and late requests with a problem (RFC 9457) and the security headers, and closes the connection. If
 * responses to earlier requests are still pending, or a response has started, sends those responses instead of the problem.
 * @param linger time for the client to read the response, in milliseconds
 */
export function answerClientErrors(server: Server, connections: Connections, linger: number): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !(socket instanceof Socket))
      return socket.destroy()
    // The late request may have got its response already, such as a 413 for its first bytes.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesWritten > 0) return socket.destroy()
    // Reads without parsing, because unread data would reset the connection before the client reads the response.
    socket.removeAllListeners('data').on('data', () => {})
    if (connections.closeAfterResponses(socket)) return
    socket.end(answer(codes[error.code ?? ''] ?? 'bad_request'))
    const late = setTimeout(() => socket.destroy(), linger).unref()
    socket.once('close', () => clearTimeout(late))
  })
}

function answer(code: ProblemCode): string {
  const found = problem(code)
  const body = JSON.stringify(found)
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${found.status} ${STATUS_CODES[found.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
