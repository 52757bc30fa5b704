import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnySite, basic, bearer, password, registration } from '../people.ts'
import type { Answer } from '../promises.ts'

/** The acknowledged state of a user. */
interface Entry {
  readonly email: string
  readonly sessions: Map<string, State>
  readonly tokens: Map<string, State>
}

/** The state is unknown while the request that ends the session or token is not acknowledged. */
type State = 'valid' | 'ended' | 'unknown'

/** Records the acknowledged writes of a site, across restarts. */
export class Ledger {
  readonly #entries: Entry[] = []
  readonly #isUnavailable: boolean
  #acknowledged = 0
  #refused = 0
  #longest = 0
  #enough = { count: 0, reached: () => {} }

  /** @param options `isUnavailable` is whether the database is unavailable at times, so that the site responds with 503 */
  constructor({ isUnavailable = false } = {}) {
    this.#isUnavailable = isUnavailable
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** The number of requests with the response 503. */
  get refused(): number {
    return this.#refused
  }

  /** The longest response time, in seconds. */
  get longest(): number {
    return this.#longest
  }

  /** Resolves after this number of further acknowledged writes. */
  more(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#enough = { count: this.#acknowledged + count, reached }
    })
  }

  /** Signs up, in and out, and creates tokens, until the connection fails. */
  async keepBusy(site: AnySite): Promise<void> {
    try {
      for (;;) await this.#useNewAccount(site)
    } catch (error) {
      if (!isConnectionError(error)) throw error
    }
  }

  async #useNewAccount(site: AnySite): Promise<void> {
    const name = `P${crypto.randomUUID().replaceAll('-', '')}`
    const signUp = site.visitor().json('/users', registration(name))
    if (!(await this.#acknowledges(signUp, 201))) return
    const entry: Entry = {
      email: `${name.toLowerCase()}@example.com`,
      sessions: new Map(),
      tokens: new Map(),
    }
    this.#entries.push(entry)
    for (let count = 0; count < 3; count += 1) await this.#signInAndOut(site, entry, count > 0)
  }

  async #signInAndOut(site: AnySite, entry: Entry, shouldEnd: boolean): Promise<void> {
    const { email, sessions, tokens } = entry
    const visitor = site.visitor()
    if (!(await this.#acknowledges(visitor.json('/login', { username: email, password }), 200))) return
    const session = visitor.session ?? assert.fail('no session')
    sessions.set(session, 'valid')
    const login = site.visitor().post('/login', basic(entry))
    if (await this.#acknowledges(login, 200)) {
      const { id, value } = (await login).record
      tokens.set(String(value), 'valid')
      if (shouldEnd) await this.#end(tokens, String(value), visitor.post(`/account/tokens/${id}/revoke`))
    }
    if (shouldEnd) await this.#end(sessions, session, visitor.post('/logout'))
  }

  async #end(all: Map<string, State>, one: string, answer: Promise<Answer>): Promise<void> {
    all.set(one, 'unknown')
    if (await this.#acknowledges(answer, 204)) all.set(one, 'ended')
  }

  async #acknowledges(answer: Promise<Answer>, expected: number): Promise<boolean> {
    const start = performance.now()
    const { request, status, text } = await answer
    this.#longest = Math.max(this.#longest, (performance.now() - start) / 1000)
    if (status === 503 && this.#isUnavailable) {
      this.#refused += 1
      await sleep(50)
      return false
    }
    assert.equal(status, expected, `${request}: ${text}`)
    this.#acknowledged += 1
    if (this.#acknowledged === this.#enough.count) this.#enough.reached()
    return true
  }

  /** Asserts that no acknowledged write is lost. */
  async verify(site: AnySite): Promise<void> {
    for (const { email, sessions, tokens } of this.#entries) {
      const status = await this.#status(() => site.visitor().post('/login?as=user', basic({ email })))
      assert.equal(status, 200, 'an account is lost')
      const checks = [
        ...[...sessions].map(([session, state]) => ({
          kind: 'session',
          state,
          send: () => site.visitor(session).get('/me'),
        })),
        ...[...tokens].map(([token, state]) => ({
          kind: 'token',
          state,
          send: () => site.visitor().get('/me', bearer(token)),
        })),
      ]
      for (const { kind, state, send } of checks) {
        const status = await this.#status(send)
        if (state === 'valid') assert.equal(status, 200, `a ${kind} is lost`)
        if (state === 'ended') assert.equal(status, 401, `an ended ${kind} is valid again`)
      }
    }
  }

  /** The status of the response, which is repeated until the database is available. */
  async #status(send: () => Promise<Answer>): Promise<number> {
    for (;;) {
      const { status } = await send()
      if (status !== 503 || !this.#isUnavailable) return status
      await sleep(50)
    }
  }
}

function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE'
}
