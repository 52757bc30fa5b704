import { createServer, type IncomingMessage, type Server } from 'node:http'
import type Koa from 'koa'
import { answerClientErrors } from './client-error.ts'
import { Connections } from './connections.ts'
import { hasBody } from './framing.ts'
import { shutDown } from './graceful-shutdown.ts'
import { IdleConnections } from './idle-connections.ts'
import { ignoreUpgrades } from './upgrade.ts'

/** The limits of clients: times in milliseconds. */
export const defaultLimits = {
  /** To send the header of a request. */
  headersTimeout: 10_000,
  /** To send a request with its body. */
  requestTimeout: 30_000,
  /** Between a response and the next request. Node allows one second more than it announces. */
  keepAliveTimeout: 5_000,
  /** Without any traffic while a response is awaited or read. */
  timeout: 30_000,
  /** To read the response to a request whose body is still being sent. */
  linger: 5_000,
  /** How often Node looks for late requests. */
  connectionsCheckingInterval: 1_000,
  /** Open connections. */
  mostConnections: 10_000,
  /** Connections of one network that wait for a request, or for the rest of one. */
  mostIdle: 1_000,
  /** Requests in memory: about 25 KB each while they are at work. */
  mostRequests: 2_500,
  /** Pipelined requests that wait for an earlier one. */
  mostWaiting: 1_000,
}

/** An HTTP server with limits for slow and hostile clients. */
export interface HttpServer {
  readonly server: Server
  /** Graceful shutdown: accepts connections for so many milliseconds more, answers every accepted request, and closes. */
  stop(drain: number): Promise<void>
}

/** The parameters of an HTTP server. */
export interface HttpServerOptions {
  readonly limits?: Partial<typeof defaultLimits>
  /** Whether an address is a trusted proxy. */
  readonly isProxy?: (address: string) => boolean
}

/** Makes the HTTP server of an application. It does not listen yet. */
export function httpServer(app: Koa, options: HttpServerOptions = {}): HttpServer {
  const { limits, isProxy = () => false } = options
  const { linger, timeout, mostConnections, mostIdle, mostRequests, mostWaiting, ...timeouts } = {
    ...defaultLimits,
    ...limits,
  }
  // The application refuses a request without a host, with its own headers.
  const server = createServer({ ...timeouts, requireHostHeader: false })
  server.timeout = timeout
  server.maxConnections = mostConnections
  // Node drops headers above a number. Their size is limited instead.
  server.maxHeadersCount = 0
  // A full worker would otherwise hand a connection back to the primary, for ever if all are full. (Missing in the types.)
  Object.assign(server, { dropMaxConnection: true })

  const handle = app.callback()
  const connections = new Connections(
    server,
    (request, response) => {
      request.url = originForm(request.url)
      if (hasBody(request)) response.once('finish', () => endBody(request, linger))
      return handle(request, response)
    },
    { mostRequests, mostWaiting },
    new IdleConnections(mostIdle, isProxy),
  )
  // The application refuses unknown expectations too.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  answerClientErrors(server, connections, linger)
  ignoreUpgrades(server, connections)
  return { server, stop: (drain) => shutDown(server, connections, drain) }
}

/** The target as a path and a query (RFC 9112 §3.2.1), or `*`, which only `OPTIONS` takes, if it is no address. */
function originForm(target = '*'): string {
  if (target.startsWith('/')) return target
  const { pathname = '', search = '' } = URL.parse(target) ?? {}
  return pathname.startsWith('/') ? pathname + search : '*'
}

/** Stops reading a body after its response. To close the connection at once could lose the response (RFC 9112 §9.6). */
function endBody(request: IncomingMessage, linger: number): void {
  if (!request.complete) setTimeout(() => request.complete || request.destroy(), linger).unref()
}
