import { createServer, type Server } from 'node:http'
import type Koa from 'koa'
import { answerClientErrors } from './web/client-error.ts'
import type { Lifecycle } from './web/health.ts'

// In milliseconds. Node's own are minutes, which slow clients can fill a server with.
const options = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  // Node would refuse without our headers; the application does it.
  requireHostHeader: false,
}

/** The server of an application, with limits on what a slow or hostile client can hold. */
export function httpServer(app: Koa, lifecycle: Lifecycle): Server {
  const handle = app.callback()
  const server = createServer(options, (request, response) => {
    // A connection that is kept alive would go on to use a server that is about to stop.
    if (lifecycle.isDraining) response.setHeader('Connection', 'close')
    return handle(request, response)
  })
  answerClientErrors(server)
  server.maxConnections = 10_000
  return server
}
