import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { openConnections } from './open-connections.ts'
import { answersUnderWay } from './pipeline.ts'

/** How long nothing may come or go by a connection, in milliseconds; in fact one to two intervals longer. */
export interface QuietLimits {
  /** Between an answer and the next request. */
  readonly keepAliveTimeout: number
  /** While it is owed an answer; once more where the system has not taken all of one yet. */
  readonly silence: number
  /** How often all connections are looked at, and Node looks for requests that are late. */
  readonly connectionsCheckingInterval: number
}

/**
 * Ends the connections by which nothing comes or goes any more. Node would set a timer at each answer and another at each
 * request; here only a connection gets one that was found quiet when all were looked at, and that costs no request anything.
 */
export function endQuietConnections(
  server: Server,
  { keepAliveTimeout, silence, connectionsCheckingInterval }: QuietLimits,
): void {
  const connections = openConnections(server)
  const traffic = new WeakMap<Socket, Traffic>()
  const looking = setInterval(look, connectionsCheckingInterval).unref()
  server.once('close', () => clearInterval(looking))

  function look(): void {
    for (const socket of connections) {
      const now = trafficOf(socket)
      const before = traffic.get(socket)
      const isQuiet = now.bytes === before?.bytes && now.isOwed === before.isOwed
      if (!isQuiet) traffic.set(socket, now)
      // Node ends what never sends a whole request, with an answer that says so.
      const isNew = !now.isOwed && socket.bytesWritten === 0
      const patience = now.isOwed ? silence : keepAliveTimeout
      const limit = isQuiet && !isNew ? patience : 0
      // A timer that runs already goes on.
      if (Boolean(socket.timeout) !== limit > 0) socket.setTimeout(limit)
    }
  }
}

interface Traffic {
  readonly bytes: number
  readonly isOwed: boolean
}

function trafficOf(socket: Socket): Traffic {
  return {
    bytes: socket.bytesRead + socket.bytesWritten,
    isOwed: answersUnderWay(socket).length > 0,
  }
}
