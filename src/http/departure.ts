import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { openConnections } from './open-connections.ts'
import { answersUnderWay } from './pipeline.ts'

// A client that has just connected, or has an idle connection, may have sent a request.
const gracePeriod = 1_000
// The time that what was accepted has to finish in, once no more is accepted.
const finishing = 7_000

/** The end of a server that loses no request which it accepted. Made before the first one. */
export class Departure {
  readonly #server: Server
  readonly #connections: ReadonlySet<Socket>

  constructor(server: Server) {
    this.#server = server
    this.#connections = openConnections(server)
  }

  /** Has the answers that are still to come ask their clients to use another connection next time. */
  announce(): void {
    const underWay = [...this.#connections].flatMap((socket) => answersUnderWay(socket))
    for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close')
  }

  /** Accepts no more connections, finishes what came in on those that there are, and closes them. */
  async complete(): Promise<void> {
    // The event loop accepts what the system has connected by now.
    await nextTurn()
    const closed = new Promise<void>((resolve) => this.#server.once('close', resolve))
    const isOver = new AbortController()
    const wait = (milliseconds: number) =>
      Promise.race([closed, sleep(milliseconds, undefined, { signal: isOver.signal })])
    try {
      // Node's HTTP server would close connections that are idle at once, with a request on its way or not.
      NetServer.prototype.close.call(this.#server)
      await wait(gracePeriod)
      this.#closeIdle()
      await wait(finishing)
    } finally {
      isOver.abort()
      this.#server.closeAllConnections()
    }
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections()
    // Node counts those as busy that have not sent anything yet.
    for (const socket of this.#connections) if (socket.bytesRead === 0) socket.destroy()
  }
}
