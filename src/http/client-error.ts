import type { Server } from 'node:http'
import { problem } from '../web/problem.ts'
import { headers } from '../web/security-headers.ts'
import { endWithAnswers } from './pipeline.ts'

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Answers what Node's parser refuses before there is a request (RFC 9112 §6.3: ambiguous framing, and all that is not
 * HTTP) with the same headers and the same problem as every other refusal, or, behind whole requests, with their answers
 * and nothing else; and closes the connection.
 *
 * @param linger how long the client has to read that, in milliseconds, if it does not close its own side
 */
export function answerClientErrors(server: Server, linger: number): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    if (endWithAnswers(socket)) return
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
