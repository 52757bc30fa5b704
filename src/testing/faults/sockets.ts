import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** Opens a connection, and ignores its errors. On Linux the client can have any address in 127.0.0.0/8. */
export function open(url: string, localAddress = '127.0.0.1'): Socket {
  const { hostname, port } = new URL(url)
  return connect({ port: Number(port), host: hostname, localAddress }).on('error', () => {})
}

/** Opens connections at the same time. More than a few hundred would overflow the backlog. */
export async function openMany(url: string, amount: number, localAddress?: string): Promise<Socket[]> {
  const sockets = Array.from({ length: amount }, () => open(url, localAddress))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

/** Resolves when a socket is closed. */
export function closing(socket: Socket): Promise<unknown> {
  return new Promise((closed) => socket.once('close', closed))
}

/** The number of open files of a process, including connections. */
export function openFiles(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
