import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerClientErrors } from './client-error.ts'
import { Connections } from './connections.ts'
import { limitConnectionsOfAddress } from './connections-of-address.ts'
import { shutDown } from './graceful-shutdown.ts'

// An import would load `fetch` too, which slows the start and takes memory.
const { createServer } = process.getBuiltinModule('node:http')

/** The limits of clients. Times are in milliseconds. */
export const defaultLimits = {
  /** To receive the header of a request. */
  headersTimeout: 10_000,
  /** To receive a request with its body. */
  requestTimeout: 30_000,
  /** Between a response and the next request. Node adds one second. */
  keepAliveTimeout: 5_000,
  /** Without any traffic on a connection. */
  timeout: 30_000,
  /** To read the response to an invalid request. */
  linger: 5_000,
  /** For requests in transit after the listener has closed. */
  gracePeriod: 1_000,
  /** For running requests after the grace period. */
  longestRequest: 7_000,
  /** Between checks for late requests. */
  connectionsCheckingInterval: 1_000,
  /** Open connections. */
  maxConnections: 10_000,
  /** Open connections of one address that is not a trusted proxy. */
  maxConnectionsOfAddress: 1_000,
}

interface HttpServerOptions {
  readonly limits?: Partial<typeof defaultLimits> | undefined
  /** Whether an address is a trusted proxy. By default, none is. */
  readonly isProxy?: (address: string) => boolean
}

/**
 * Creates the HTTP server of an application, with limits for slow and hostile clients. It does not listen yet. `stop` is a graceful
 * shutdown, which still accepts connections for `drain` milliseconds.
 */
export function httpServer(
  app: { callback(): (request: IncomingMessage, response: ServerResponse) => unknown },
  { limits: given = {}, isProxy = () => false }: HttpServerOptions = {},
) {
  const limits = { ...defaultLimits, ...given }
  // The application rejects a request without a host, because Node's own response would lack the security headers.
  const server = createServer({ ...limits, requireHostHeader: false })
  server.timeout = limits.timeout
  server.maxConnections = limits.maxConnections
  // Otherwise, Node would silently drop headers above a certain number. Their total size is limited.
  server.maxHeadersCount = 0
  // Without this option, full workers return a connection to the primary endlessly. Node's types lack the option.
  Object.assign(server, { dropMaxConnection: true })

  limitConnectionsOfAddress(server, limits.maxConnectionsOfAddress, isProxy)
  const connections = new Connections(server, app.callback())
  // The application rejects unknown expectations.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  answerClientErrors(server, connections, limits.linger)
  return { server, stop: (drain: number) => shutDown(server, connections, { ...limits, drain }) }
}
