import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy on a free port, so that the address of a program is known before the program starts. */
export interface Forwarder {
  readonly origin: string
  /** Forwards all further requests to a URL. */
  to(url: string): void
  close(): void
}

export async function startForwarder(): Promise<Forwarder> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(url) {
      server.on('request', (incoming, outgoing) => {
        const { method, headers, url: path = '' } = incoming
        const forwarded = request(new URL(path, url), { method, headers }, (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders)
          response.pipe(outgoing)
        })
        incoming.pipe(forwarded)
      })
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
