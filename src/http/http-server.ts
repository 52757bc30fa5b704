import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'
import type Koa from 'koa'
import type { Lifecycle } from '../web/health.ts'
import { answerClientErrors } from './client-error.ts'
import { framingProblem } from './framing.ts'
import { pipelined } from './pipeline.ts'
import { endQuietConnections, type QuietLimits } from './quiet-connections.ts'

/** How long a client may take, in milliseconds. */
export interface TimeLimits extends QuietLimits {
  /** To send the header of a request, from the moment it is connected. */
  readonly headersTimeout: number
  /** To send a request, its body included. */
  readonly requestTimeout: number
  /** To read the answer to what it is still sending, such as a body that was refused. */
  readonly linger: number
}

/** Node's own are minutes or none, which slow clients can fill a server with. */
export const usualLimits: TimeLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  silence: 30_000,
  linger: 5_000,
  connectionsCheckingInterval: 1_000,
}

/** The server of an application, with limits on what a slow or hostile client can hold. */
export function httpServer(app: Koa, lifecycle: Lifecycle, limits: Partial<TimeLimits> = {}): Server {
  const { linger, silence, ...timeouts } = { ...usualLimits, ...limits }
  // Node would refuse a request without a host without our headers; the application does it.
  const options: ServerOptions = { ...timeouts, keepAliveTimeout: 0, requireHostHeader: false }
  // As Node would say it: a client that knows does not use a connection that is about to end.
  const keepAlive = `timeout=${Math.floor(timeouts.keepAliveTimeout / 1000)}`
  const handle = app.callback()
  const answer = pipelined((request, response) => {
    // A connection that is kept alive would go on to use a server that is about to stop.
    if (lifecycle.isDraining || framingProblem(request)) response.setHeader('Connection', 'close')
    else response.setHeader('Keep-Alive', keepAlive)
    request.url = originForm(request.url)
    if (hasBody(request)) response.once('finish', () => endBody(request, linger))
    return handle(request, response)
  })
  const server = createServer(options, answer)
  // Node would answer these itself, without our headers; the application does it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  endQuietConnections(server, { ...timeouts, silence })
  server.maxConnections = 10_000
  // Of several processes, one that has so many would hand the next back to the primary, for ever if all have.
  // (Node's types do not know it.)
  Object.assign(server, { dropMaxConnection: true })
  answerClientErrors(server, linger)
  return server
}

/**
 * The target in the form in which everybody after us reads it (RFC 9112 §3.2.1): of a whole address its path and query.
 * `*`, which only `OPTIONS` may ask for, in the place of what is no address.
 */
function originForm(target = '*'): string {
  if (target.startsWith('/')) return target
  const { pathname = '', search = '' } = URL.parse(target) ?? {}
  return pathname.startsWith('/') ? pathname + search : '*'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Node would go on reading what has been answered already. To stop at once could take the answer away from the client. */
function endBody(request: IncomingMessage, linger: number): void {
  if (!request.complete) setTimeout(() => request.complete || request.destroy(), linger).unref()
}
