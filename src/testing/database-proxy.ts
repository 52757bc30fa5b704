import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface Test {
  after(run: () => Promise<void>): void
}

/** What stands between a site and its PostgreSQL, and can do what a network does. */
export interface DatabaseProxy {
  /** The same database by way of it. */
  readonly url: string
  /** From now on nothing comes through, and nobody is told: as where a cable was pulled or a machine has stopped. */
  fallSilent(): void
  /** Lets what comes from now on through again; what is connected has broken. */
  recover(): void
}

/** Puts a proxy in front of the database with this URL, for the length of a test. */
export async function startProxy(test: Test, databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const { hostname, port } = url
  const sockets = new Set<Socket>()
  let isSilent = false
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from)
    from
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(from)
        if (!isSilent) to.destroy()
      })
    from.on('data', (bytes) => isSilent || to.write(bytes))
  }
  const server = createServer((client) => {
    const database = connect(Number(port || 5432), hostname)
    pass(client, database)
    pass(database, client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  test.after(async () => {
    isSilent = false
    breakAll()
    server.close()
  })
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    fallSilent() {
      isSilent = true
    },
    recover() {
      isSilent = false
      breakAll()
    },
  }
}
