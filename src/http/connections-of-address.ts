import type { Server } from 'node:http'
import { blockOf, networkOf } from '../throttle/network.ts'
import { Places } from '../throttle/places.ts'

/**
 * Closes new connections of an address that has too many open ones, so that one client cannot use up all connections. An IPv6
 * address counts by its /64. The addresses of an IPv6 /48 or an IPv4 /24 have twice the limit together. Trusted proxies have no limit.
 */
export function limitConnectionsOfAddress(
  server: Server,
  limit: number,
  isProxy: (address: string) => boolean,
): void {
  const open = new Places()
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isProxy(remoteAddress)) return
    const place = open.take({ [networkOf(remoteAddress)]: limit, [blockOf(remoteAddress)]: 2 * limit })
    if (!place) return socket.destroy()
    socket.once('close', () => place[Symbol.dispose]())
  })
}
