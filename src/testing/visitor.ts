import { once } from 'node:events'
import { Agent, type OutgoingHttpHeaders as Headers, type IncomingMessage, request } from 'node:http'
import { type Answer, assertPromises } from './promises.ts'

// Closes idle connections four seconds before the server does. A request on a connection that the server is closing would fail.
const agent = new Agent({ keepAlive: true, timeout: 5_000, agentKeepAliveTimeoutBuffer: 4_000 })

/** The site of a visitor. */
interface Address {
  readonly url: string
  /** Collects issued secrets. They must not appear in logs, or in responses other than the one that issues them. */
  readonly secrets: Set<string>
}

/** An HTTP client with cookies. It follows no redirect, and checks every response with `assertPromises`. */
export class Visitor {
  readonly cookies = new Map<string, string>()
  readonly #site: Address

  constructor(site: Address, session?: string) {
    this.#site = site
    if (session !== undefined) this.cookies.set('session', session)
  }

  get session(): string | undefined {
    return this.cookies.get('__Host-session') ?? this.cookies.get('session')
  }

  /** Sends a GET request as an API client. */
  get(path: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', path, headers)
  }

  /** Sends a GET request as a browser, which prefers HTML. */
  page(path: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers })
  }

  /** Sends a POST request without a body. */
  post(path: string, headers?: Headers): Promise<Answer> {
    return this.send('POST', path, headers)
  }

  form(path: string, fields: Record<string, string>, headers?: Headers): Promise<Answer> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.send('POST', path, { ...type, ...headers }, new URLSearchParams(fields).toString())
  }

  json(path: string, value: unknown, headers?: Headers): Promise<Answer> {
    return this.send('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(value))
  }

  send(method: string, path: string, headers: Headers = {}, body: string | Buffer = ''): Promise<Answer> {
    const length = body.length > 0 || method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}
    return this.open(method, path, { ...length, ...headers }).end(body)
  }

  /** Starts a request whose body is sent later. `begun` resolves when the server starts to handle a request with `Expect: 100-continue`. */
  open(method: string, path: string, headers: Headers = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const outgoing = request(this.#site.url + path, {
      agent,
      method,
      headers: { ...(cookie && { cookie }), ...headers },
    })
    // Prevents an unhandled rejection, because a caller may ignore one of these promises.
    const begun = once(outgoing, 'continue')
    begun.catch(() => {})
    const answered = once(outgoing, 'response')
    answered.catch(() => {})
    return {
      begun,
      write: (part: string) => outgoing.write(part),
      end: async (part: string | Buffer = ''): Promise<Answer> => {
        outgoing.end(part)
        const [incoming] = await answered
        return this.#read(method, path, incoming)
      },
    }
  }

  async #read(method: string, path: string, incoming: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { statusCode: status = 0, headersDistinct } = incoming
    // Apart from the others, so that tests can compare the headers of two answers.
    const { 'x-request-id': requestId, ...headers } = incoming.headers
    const answer: Answer = {
      request: `${method} ${path}`,
      status,
      headers,
      requestId: String(requestId ?? ''),
      challenges: headersDistinct['www-authenticate'] ?? [],
      cookies: headersDistinct['set-cookie'] ?? [],
      text,
      record: text !== '' && /json/.test(headers['content-type'] ?? '') ? JSON.parse(text) : {},
    }
    this.#keep(answer)
    assertPromises(answer, this.#site.secrets)
    return answer
  }

  #keep({ cookies, text }: Answer): void {
    for (const line of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/; Max-Age=0(;|$)/i.test(line) || value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
      if (value !== '' && !name.endsWith('theme')) this.#site.secrets.add(value)
    }
    for (const [token] of text.matchAll(/kauth_[\w-]{49}|eyJ[\w-]+\.[\w-]+\.[\w-]+/g))
      this.#site.secrets.add(token)
  }
}
