import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response of a fake provider. */
export interface Reply {
  readonly status?: number
  readonly type?: string
  readonly location?: string
  readonly body?: string
}

/** A provider on a free port that answers as a test wants. */
export interface FakeProvider {
  readonly url: string
  /** The paths of the requests so far. */
  readonly requests: string[]
  /** Replaces the response of a path. */
  readonly replies: Map<string, Reply | 'hang'>
  close(): Promise<void>
}

type Handle = (request: IncomingMessage, url: URL) => Promise<Reply> | Reply

/** Serves a fake provider. `handle` answers the paths that `replies` does not replace. */
export async function serveProvider(handle: Handle): Promise<FakeProvider> {
  const requests: string[] = []
  const replies = new Map<string, Reply | 'hang'>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', base)
    requests.push(url.pathname)
    const reply = replies.get(url.pathname) ?? (await handle(request, url))
    if (reply === 'hang') return
    const { status = 200, type = 'application/json', location, body = '' } = reply
    response.writeHead(status, { 'content-type': type, ...(location && { location }) }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: base, requests, replies, close }
}

/** A response with JSON. */
export function json(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}

/** A redirect back to the application. */
export function redirectTo(target: string, parameters: Readonly<Record<string, string | undefined>>): Reply {
  const url = new URL(target)
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.append(name, value)
  }
  return { status: 302, location: url.href }
}
