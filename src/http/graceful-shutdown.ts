import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

// A client that has just connected, or has an idle connection, may have sent a request.
const gracePeriod = 1_000
const longestRequest = 7_000
// Twice the backlog of a listener in Node.
const longestBacklog = 1_022

/**
 * Stops a server without losing an accepted request: asks clients to close their connections, goes on accepting for so many
 * milliseconds, closes the listener, answers what was accepted, and closes all connections within eight seconds.
 */
export async function shutDown(server: Server, connections: Connections, drain: number): Promise<void> {
  connections.drain()
  await sleep(drain)
  await acceptPending(server)
  const closed = once(server, 'close')
  // The method of the HTTP server would close idle connections at once.
  NetServer.prototype.close.call(server)
  await Promise.race([closed, sleep(gracePeriod, undefined, { ref: false })])
  server.closeIdleConnections()
  connections.closeSilent()
  await Promise.race([closed, sleep(longestRequest, undefined, { ref: false })])
  server.closeAllConnections()
}

/** Accepts what the system has connected already. The event loop accepts one connection in each turn. */
async function acceptPending(server: Server): Promise<void> {
  let hasAccepted = true
  const onConnection = () => {
    hasAccepted = true
  }
  server.on('connection', onConnection)
  for (let turn = 0; hasAccepted && turn < longestBacklog; turn += 1) {
    hasAccepted = false
    await nextTurn()
  }
  server.off('connection', onConnection)
}
