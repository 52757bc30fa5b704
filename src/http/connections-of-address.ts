import type { Server } from 'node:http'
import { blockOf, networkOf } from '../throttle/network.ts'

/**
 * Closes new connections of an address that has too many open ones, so that one client cannot use up all connections. An IPv6
 * address counts by its /64. The addresses of an IPv6 /48 or an IPv4 /24 have twice the limit together. Trusted proxies have no limit.
 */
export function limitConnectionsOfAddress(
  server: Server,
  limit: number,
  isProxy: (address: string) => boolean,
): void {
  const open = new Map<string, number>()
  const countOf = (name: string) => open.get(name) ?? 0
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isProxy(remoteAddress)) return
    const network = networkOf(remoteAddress)
    const block = blockOf(remoteAddress)
    if (countOf(network) >= limit || countOf(block) >= 2 * limit) return socket.destroy()
    for (const name of [network, block]) open.set(name, countOf(name) + 1)
    socket.once('close', () => {
      for (const name of [network, block]) {
        const left = countOf(name) - 1
        if (left > 0) open.set(name, left)
        else open.delete(name)
      }
    })
  })
}
