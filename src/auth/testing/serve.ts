import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

interface Application {
  callback(): RequestListener
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** An application that listens until the test ends. */
export interface Served {
  readonly url: string
  readonly port: number
  /** The errors that the application emitted. */
  readonly errors: Error[]
}

/** Lets an application listen on a free port until the test ends. */
export async function serve(t: TestContext, app: Application): Promise<Served> {
  const errors: Error[] = []
  app.on('error', (error) => errors.push(error))
  const server = createServer(app.callback())
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, errors }
}
