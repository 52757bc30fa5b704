import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface Test {
  after(run: () => Promise<void>): void
}

/** A TCP proxy that simulates network failures, for PostgreSQL or a mail server. */
export interface DatabaseProxy {
  /** The URL of the server through the proxy. */
  readonly url: string
  /** The number of open connections. */
  readonly connections: number
  /** Drops all data without closing a connection, like a server without power. */
  dropData(): void
  /** Closes all connections and refuses new ones, as if the server were stopped. */
  refuse(): void
  /** Adds a delay in each direction. */
  delay(milliseconds: number): void
  /** Closes all open connections. */
  reset(): void
  /** Drops the data of open connections only, like a firewall that has lost its state. */
  dropOpenConnections(): void
  /** Ends all failures, and closes the open connections. */
  recover(): void
}

/** A client and its connection to the server. */
interface Link {
  readonly client: Socket
  readonly database: Socket
  isDropped: boolean
}

/** Runs a proxy for a server until the test ends. */
export async function startProxy(test: Test, databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const { hostname, port } = url
  const links = new Set<Link>()
  let isDropping = false
  let isClosed = false
  let delay = 0
  const pass = (link: Link, from: Socket, to: Socket) => {
    const isPassed = () => !isDropping && !link.isDropped
    const write = (bytes: Buffer) => isPassed() && to.write(bytes)
    from
      .on('error', () => {})
      .on('data', (bytes) => (delay > 0 ? setTimeout(write, delay, bytes) : write(bytes)))
      .on('close', () => {
        if (isPassed()) to.destroy()
        if (to.closed) links.delete(link)
      })
  }
  const server = createServer((client) => {
    if (isClosed) return client.on('error', () => {}).resetAndDestroy()
    const link = { client, database: connect(Number(port || 5432), hostname), isDropped: false }
    links.add(link)
    pass(link, client, link.database)
    pass(link, link.database, client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const { client, database } of links) {
      client.destroy()
      database.destroy()
    }
  }
  test.after(async () => {
    breakAll()
    server.close()
  })
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    get connections() {
      return [...links].filter(({ client }) => !client.closed).length
    },
    dropData() {
      isDropping = true
    },
    refuse() {
      isClosed = true
      breakAll()
    },
    delay(milliseconds) {
      delay = milliseconds
    },
    reset: breakAll,
    dropOpenConnections() {
      isDropping = false
      for (const link of links) link.isDropped = true
    },
    recover() {
      isDropping = false
      isClosed = false
      delay = 0
      breakAll()
    },
  }
}
