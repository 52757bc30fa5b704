import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/**
 * Graceful shutdown: sends `Connection: close`, closes the listener after `drain` milliseconds, and completes accepted requests. The
 * limits of the server describe the other times.
 */
export async function shutDown(
  server: Server,
  connections: Connections,
  { drain, gracePeriod, longestRequest }: Record<'drain' | 'gracePeriod' | 'longestRequest', number>,
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
