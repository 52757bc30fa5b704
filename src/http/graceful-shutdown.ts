import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

// Time for requests in transit on new and idle connections, and for running requests. In milliseconds.
const gracePeriod = 1_000
const longestRequest = 7_000

/**
 * Graceful shutdown: sends `Connection: close`, closes the listener, and completes accepted requests for up to eight seconds.
 * @param drain how long the server still accepts connections, in milliseconds
 */
export async function shutDown(server: Server, connections: Connections, drain: number): Promise<void> {
  connections.drain()
  await sleep(drain)
  const closed = once(server, 'close')
  // `server.close` would close idle connections immediately, but a request may be on its way.
  NetServer.prototype.close.call(server)
  await Promise.race([closed, sleep(gracePeriod, undefined, { ref: false })])
  connections.closeIdle()
  await Promise.race([closed, sleep(longestRequest, undefined, { ref: false })])
  server.closeAllConnections()
}
