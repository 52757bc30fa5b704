import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

// Time for requests in transit on new and idle connections, and for running requests. In milliseconds.
const gracePeriod = 1_000
const longestRequest = 7_000
// Twice the default backlog of Node.
const longestBacklog = 1_022

/**
 * Graceful shutdown: sends `Connection: close`, closes the listener, and completes accepted requests for up to eight seconds.
 * @param drain how long the server still accepts connections, in milliseconds
 */
export async function shutDown(server: Server, connections: Connections, drain: number): Promise<void> {
  connections.drain()
  await sleep(drain)
  await acceptPending(server)
  const closed = once(server, 'close')
  // `server.close` would close idle connections immediately.
  NetServer.prototype.close.call(server)
  await Promise.race([closed, sleep(gracePeriod, undefined, { ref: false })])
  server.closeIdleConnections()
  connections.closeSilent()
  await Promise.race([closed, sleep(longestRequest, undefined, { ref: false })])
  server.closeAllConnections()
}

/** Accepts the connections in the backlog. The event loop accepts one in each turn. */
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
