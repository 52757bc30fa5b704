import type { Socket } from 'node:net'
import { networkOf } from '../throttle/network.ts'

/**
 * The connections on which the server waits for a request, or for the rest of one. A network that has too many loses the
 * oldest, so that it cannot take the connections of other visitors.
 */
export class IdleConnections {
  readonly #networks = new Map<string, Set<Socket>>()
  readonly #network = new WeakMap<Socket, string>()
  readonly #most: number
  readonly #isProxy: (address: string) => boolean

  /**
   * @param most for each IPv4 address or IPv6 /64
   * @param isProxy whether an address is a trusted proxy, which has no limit because it has the connections of all visitors
   */
  constructor(most: number, isProxy: (address: string) => boolean) {
    this.#most = most
    this.#isProxy = isProxy
  }

  /** Adds a connection that is accepted, or has its response. */
  add(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || this.#isProxy(remoteAddress)) return
    const network = this.#network.get(socket) ?? networkOf(remoteAddress)
    const idle = this.#networks.get(network) ?? new Set()
    this.#network.set(socket, network)
    this.#networks.set(network, idle.add(socket))
    const [oldest] = idle
    if (!oldest || idle.size <= this.#most) return
    this.delete(oldest)
    oldest.destroy()
  }

  /** Removes a connection whose request is complete, or which is closed. */
  delete(socket: Socket): void {
    const network = this.#network.get(socket) ?? ''
    const idle = this.#networks.get(network)
    idle?.delete(socket)
    if (idle?.size === 0) this.#networks.delete(network)
  }
}
