import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { announceClose, type Connection, dropIncomplete, hasResponse } from './connection.ts'
import { framingProblem, hasBody } from './framing.ts'
import type { IdleConnections } from './idle-connections.ts'

/** The limits of requests in memory, for all connections together. */
interface RequestLimits {
  /** Above this, idle connections are paused until only half as many requests are left. */
  readonly maxRequests: number
  /** Waiting pipelined requests. If a request exceeds this, its connection is closed without further responses. */
  readonly maxWaiting: number
}

/**
 * The open connections of a server. Each connection handles one request at a time, and the next one after the response has been
 * sent (RFC 9112 §9.3.2). A connection is paused while its requests wait.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #handle: RequestListener
  readonly #limits: RequestLimits
  readonly #idle: IdleConnections
  #held = 0
  #waiting = 0
  #isFull = false
  #isDraining = false

  constructor(server: Server, handle: RequestListener, limits: RequestLimits, idle: IdleConnections) {
    this.#handle = handle
    this.#limits = limits
    this.#idle = idle
    server.on('connection', (socket) => this.#add(socket))
    server.on('request', (_request, response) => this.#receive(response))
  }

  /** Sends `Connection: close` with the last response of each connection from now on. */
  drain(): void {
    this.#isDraining = true
    for (const connection of this.#open.values()) announceClose(connection)
  }

  /** Closes connections that have received no data, because Node does not count them as idle. */
  closeSilent(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy()
  }

  /**
   * Closes a connection when it has sent the response that has started, if any, and a response to each complete request. Returns whether
   * there are such responses.
   */
  closeAfterResponses(socket: Socket): boolean {
    const connection = this.#open.get(socket)
    if (!connection) return false
    connection.isClosing = true
    if (dropIncomplete(connection)) this.#waiting -= 1
    announceClose(connection)
    return hasResponse(connection)
  }

  #add(socket: Socket): void {
    const connection: Connection = { socket, responses: [], held: 0, isClosing: false }
    this.#open.set(socket, connection)
    this.#idle.add(socket)
    // Node resumes a socket after accepting it and after each request.
    socket.on('resume', () => this.#pauseIfFull(connection))
    if (this.#isFull) setImmediate(() => this.#pauseIfFull(connection))
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#idle.delete(socket)
      this.#dropWaiting(connection)
      this.#hold(connection, -connection.held)
    })
  }

  #receive(response: ServerResponse): void {
    const connection = this.#open.get(response.req.socket)
    if (!connection) return
    this.#hold(connection, 1)
    if (connection.isClosing) return
    // The next request may be part of a body with an ambiguous end (request smuggling). Node ignores an upgrade, but loses the rest
    // of its packet.
    connection.isClosing = framingProblem(response.req) !== undefined || 'upgrade' in response.req.headers
    // Runs after the whole packet is parsed, because the packet may contain more requests than the limit.
    if (connection.responses.push(response) === 1) process.nextTick(() => this.#begin(connection))
    else this.#wait(connection)
  }

  #wait(connection: Connection): void {
    this.#waiting += 1
    connection.socket.pause()
    if (this.#waiting <= this.#limits.maxWaiting) return
    connection.isClosing = true
    connection.socket.destroy()
    this.#dropWaiting(connection)
  }

  #begin(connection: Connection): void {
    const { socket, responses, isClosing } = connection
    const [response] = responses
    if (!response || !socket.writable) return
    response.once('close', () => this.#next(connection))
    if (this.#isDraining || isClosing) announceClose(connection)
    const stopIdling = () => responses[0] === response && this.#idle.delete(socket)
    if (hasBody(response.req)) response.req.once('end', stopIdling)
    else stopIdling()
    this.#handle(response.req, response)
  }

  #next(connection: Connection): void {
    const { socket, responses, isClosing } = connection
    if (responses.shift()) this.#hold(connection, -1)
    if (responses.length > 0) this.#waiting -= 1
    if (responses.length === 1) socket.resume()
    if (responses.length > 0) this.#begin(connection)
    // Node keeps the connection open if the response was sent with keep-alive.
    else if (isClosing) socket.destroySoon()
    else {
      if (!socket.destroyed) this.#idle.add(socket)
      this.#pauseIfFull(connection)
    }
  }

  #hold(connection: Connection, requests: number): void {
    connection.held += requests
    this.#held += requests
    const isFull = this.#held > this.#limits.maxRequests / (this.#isFull ? 2 : 1)
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    for (const each of this.#open.values()) {
      if (isFull) this.#pauseIfFull(each)
      else if (each.responses.length === 0) each.socket.resume()
    }
  }

  #pauseIfFull({ socket, responses }: Connection): void {
    if (responses.length > 1 || (this.#isFull && responses.length === 0)) socket.pause()
  }

  #dropWaiting({ responses }: Connection): void {
    this.#waiting -= Math.max(0, responses.length - 1)
    responses.length = 0
  }
}
