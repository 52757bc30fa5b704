import type { IncomingMessage, Server } from 'node:http'
import type { Connections } from './connections.ts'

/**
 * Ignores `Upgrade` (RFC 9110 §7.8): a new parser reads the request again without the header. Without this listener, Node
 * would lose the rest of the packet. If earlier requests wait for their responses, the connection is closed after these
 * responses instead.
 */
export function ignoreUpgrades(server: Server, connections: Connections): void {
  server.on('upgrade', (request, socket, rest) => {
    if (connections.isBusy(request.socket)) {
      // Node has removed its own listeners from the socket.
      socket.on('error', () => {}).on('timeout', () => socket.destroy())
      connections.closeAfterResponses(request.socket)
    } else {
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), rest]))
      server.emit('connection', socket)
    }
  })
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  }
  return Buffer.from(`${head}\r\n`, 'latin1')
}
