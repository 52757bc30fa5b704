import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** A connection to a server, which may fail. Every address of 127.0.0.0/8 may be the client's on Linux. */
export function open(url: string, localAddress = '127.0.0.1'): Socket {
  const { hostname, port } = new URL(url)
  return connect({ port: Number(port), host: hostname, localAddress }).on('error', () => {})
}

/** So many that are connected. The system drops what more than a few hundred ask for at once, and they would wait for seconds. */
export async function openMany(url: string, amount: number, localAddress?: string): Promise<Socket[]> {
  const sockets = Array.from({ length: amount }, () => open(url, localAddress))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

/** When it is closed. */
export function closing(socket: Socket): Promise<unknown> {
  return new Promise((closed) => socket.once('close', closed))
}

/** How many files, connections among them, a process has open. */
export function openFiles(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
