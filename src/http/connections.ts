import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { framingProblem } from './framing.ts'

const maxUnanswered = 16

interface Connection {
  /** The responses that have not been sent, in order. Several, if the client pipelines requests. */
  readonly unanswered: Set<ServerResponse>
  /** Whether further requests are ignored. */
  isClosing: boolean
}

/** The open connections of a server. A connection with more than 16 unanswered requests is closed. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #handle: RequestListener
  #isDraining = false

  constructor(server: Server, handle: RequestListener) {
    this.#handle = handle
    server.on('connection', (socket) => {
      this.#open.set(socket, { unanswered: new Set(), isClosing: false })
      socket.once('close', () => this.#open.delete(socket))
    })
    server.on('request', (_request, response) => this.#receive(response))
  }

  /** Sends `Connection: close` with the last response of each connection from now on. */
  drain(): void {
    this.#isDraining = true
    for (const { unanswered } of this.#open.values()) announceClose([...unanswered].at(-1))
  }

  /** Closes the connections without an unanswered request. Node itself keeps those that have never received data. */
  closeIdle(): void {
    for (const [socket, { unanswered }] of this.#open) if (unanswered.size === 0) socket.destroySoon()
  }

  /**
   * Closes a connection when it has sent a response to each complete request, and the response that has started. Returns whether
   * there are such responses.
   */
  closeAfterResponses(socket: Socket): boolean {
    const connection = this.#open.get(socket)
    const last = [...(connection?.unanswered ?? [])].findLast(
      ({ req, headersSent }) => req.complete || headersSent,
    )
    if (!connection || !last) return false
    connection.isClosing = true
    announceClose(last)
    last.once('close', () => socket.destroySoon())
    return true
  }

  #receive(response: ServerResponse): void {
    const { req } = response
    const connection = this.#open.get(req.socket)
    if (!connection) return
    const { unanswered } = connection
    unanswered.add(response)
    response.once('close', () => unanswered.delete(response))
    // Ignored requests count too, because each takes memory.
    if (unanswered.size > maxUnanswered) req.socket.destroy()
    if (connection.isClosing) return
    // The next request may be part of a body with an ambiguous end (request smuggling). Node ignores an upgrade, but loses the rest
    // of its packet.
    connection.isClosing = this.#isDraining || framingProblem(req) !== undefined || 'upgrade' in req.headers
    if (connection.isClosing) announceClose(response)
    // After the whole packet has been parsed, because it may contain more requests than the limit.
    process.nextTick(() => req.socket.destroyed || this.#handle(req, response))
  }
}

/** Sends `Connection: close` with a response (RFC 9112 §9.6). */
function announceClose(response: ServerResponse | undefined): void {
  if (response && !response.headersSent) response.setHeader('Connection', 'close')
}
