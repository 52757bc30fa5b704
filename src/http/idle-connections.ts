import type { Socket } from 'node:net'
import { networkOf } from '../throttle/network.ts'

/**
 * The connections without a complete request. If a network exceeds its limit, its oldest such connection is closed, so
 * that one network cannot use up all connections.
 */
export class IdleConnections {
  readonly #networks = new Map<string, Set<Socket>>()
  readonly #network = new WeakMap<Socket, string>()
  readonly #limit: number
  readonly #isProxy: (address: string) => boolean

  /** @param limit the limit of each IPv4 address or IPv6 /64. Trusted proxies have no limit */
  constructor(limit: number, isProxy: (address: string) => boolean) {
    this.#limit = limit
    this.#isProxy = isProxy
  }

  /** Adds a connection after it is accepted, or after a response. */
  add(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || this.#isProxy(remoteAddress)) return
    const network = this.#network.get(socket) ?? networkOf(remoteAddress)
    const idle = this.#networks.get(network) ?? new Set()
    this.#network.set(socket, network)
    this.#networks.set(network, idle.add(socket))
    const [oldest] = idle
    if (!oldest || idle.size <= this.#limit) return
    this.delete(oldest)
    oldest.destroy()
  }

  /** Removes a connection when it is closed, or when its request is complete. */
  delete(socket: Socket): void {
    const network = this.#network.get(socket) ?? ''
    const idle = this.#networks.get(network)
    idle?.delete(socket)
    if (idle?.size === 0) this.#networks.delete(network)
  }
}
