import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const known = new WeakMap<Server, Set<Socket>>()

/** The connections of a server that are open: those that came since this was first asked of it. */
export function openConnections(server: Server): ReadonlySet<Socket> {
  return known.get(server) ?? watch(server)
}

function watch(server: Server): Set<Socket> {
  const open = new Set<Socket>()
  known.set(server, open)
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}
