import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

interface ShutdownTimes {
  /** How long the server still accepts connections. */
  readonly drain: number
  /** After the listener has closed, the time for requests in transit on new and idle connections. */
  readonly gracePeriod: number
  /** After the grace period, the time for running requests. */
  readonly longestRequest: number
}

/**
 * Graceful shutdown: sends `Connection: close`, closes the listener, and completes accepted requests.
 * @param times in milliseconds
 */
export async function shutDown(
  server: Server,
  connections: Connections,
  { drain, gracePeriod, longestRequest }: ShutdownTimes,
): Promise<void> {
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
