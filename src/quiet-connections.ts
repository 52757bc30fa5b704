import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { answersUnderWay } from './pipeline.ts'

/** How long nothing may come or go by a connection, in milliseconds; at most twice the interval longer. */
export interface Patience {
  /** Between an answer and the next request. */
  readonly keepAliveTimeout: number
  /** While it is owed an answer. */
  readonly silence: number
  /** How often all connections are looked at. */
  readonly connectionsCheckingInterval: number
}

/**
 * Ends the connections by which nothing comes or goes any more. Node would set a timer at each answer and another at each
 * request; here only a connection gets one that was found quiet when all were looked at, and that costs no request anything.
 */
export function endQuietConnections(
  server: Server,
  { keepAliveTimeout, silence, connectionsCheckingInterval }: Patience,
): void {
  const traffic = new Map<Socket, Traffic>()
  server.on('connection', (socket) => {
    traffic.set(socket, trafficOf(socket))
    socket.once('close', () => traffic.delete(socket))
  })
  const looking = setInterval(look, connectionsCheckingInterval).unref()
  server.once('close', () => clearInterval(looking))

  function look(): void {
    for (const [socket, before] of traffic) {
      const now = trafficOf(socket)
      traffic.set(socket, now)
      const isQuiet = now.bytes === before.bytes && now.isOwed === before.isOwed
      // Node ends what never sends a whole request, with an answer that says so.
      const isNew = !now.isOwed && socket.bytesWritten === 0
      if (!isQuiet || isNew) socket.setTimeout(0)
      else if (!socket.timeout) socket.setTimeout(now.isOwed ? silence : keepAliveTimeout)
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
