import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface Test {
  after(run: () => Promise<void>): void
}

/** What stands between a site and its PostgreSQL, and can do what a network does. */
export interface DatabaseProxy {
  /** The same database by way of it. */
  readonly url: string
  /** How many are connected. */
  readonly connections: number
  /** From now on nothing comes through, and nobody is told: as where a cable was pulled or a machine has stopped. */
  fallSilent(): void
  /** From now on whoever is connected has been cut off, and whoever connects is refused: as where nothing listens. */
  refuse(): void
  /** From now on everything takes so many milliseconds more, each way. */
  slowDown(milliseconds: number): void
  /** Cuts everybody off. Whoever connects again is let through. */
  reset(): void
  /** Whoever is connected hears nothing any more: as behind a firewall that has forgotten them. Others are let through. */
  forget(): void
  /** Lets what comes from now on through again; what is connected has broken. */
  recover(): void
}

/** Two sockets that belong together. */
interface Link {
  readonly client: Socket
  readonly database: Socket
  isForgotten: boolean
}

/** Puts a proxy in front of the database with this URL, for the length of a test. */
export async function startProxy(test: Test, databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const { hostname, port } = url
  const links = new Set<Link>()
  let isSilent = false
  let isClosed = false
  let delay = 0
  const pass = (link: Link, from: Socket, to: Socket) => {
    const isHeard = () => !isSilent && !link.isForgotten
    const write = (bytes: Buffer) => isHeard() && to.write(bytes)
    from
      .on('error', () => {})
      .on('data', (bytes) => (delay > 0 ? setTimeout(write, delay, bytes) : write(bytes)))
      .on('close', () => {
        if (isHeard()) to.destroy()
        if (to.closed) links.delete(link)
      })
  }
  const server = createServer((client) => {
    if (isClosed) return client.on('error', () => {}).resetAndDestroy()
    const link = { client, database: connect(Number(port || 5432), hostname), isForgotten: false }
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
    fallSilent() {
      isSilent = true
    },
    refuse() {
      isClosed = true
      breakAll()
    },
    slowDown(milliseconds) {
      delay = milliseconds
    },
    reset: breakAll,
    forget() {
      isSilent = false
      for (const link of links) link.isForgotten = true
    },
    recover() {
      isSilent = false
      isClosed = false
      delay = 0
      breakAll()
    },
  }
}
