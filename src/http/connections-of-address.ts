import type { Server } from 'node:http'
import { networkOf } from '../throttle/network.ts'

/**
 * Closes new connections of an address that has too many open ones, so that one client cannot use up all connections. An IPv6
 * address counts by its /64. Trusted proxies have no limit.
 */
export function limitConnectionsOfAddress(
  server: Server,
  limit: number,
  isProxy: (address: string) => boolean,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isProxy(remoteAddress)) return
    const network = networkOf(remoteAddress)
    const count = open.get(network) ?? 0
    if (count >= limit) return socket.destroy()
    open.set(network, count + 1)
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}
