import assert from 'node:assert/strict'
import { basic, bearer, password, registration, type Visited } from '../testing/people.ts'
import type { Answer } from '../testing/promises.ts'

/** What somebody has been told, and must therefore be so from then on. What they were not told may be so or not. */
interface Entry {
  readonly email: string
  /** Sessions, by what they are known to be: signed in, signed out, or neither. */
  readonly sessions: Map<string, 'live' | 'over' | 'unknown'>
  readonly tokens: string[]
}

/** Everything that a site has acknowledged, in many lives. */
export class Ledger {
  readonly #entries: Entry[] = []
  #acknowledged = 0
  #enough = { count: 0, reached: () => {} }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Waits until so much more has been acknowledged. */
  more(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#enough = { count: this.#acknowledged + count, reached }
    })
  }

  /** Signs up, in, out and takes tokens, one after the other, until the site is gone. */
  async keepBusy(site: Visited): Promise<void> {
    try {
      for (;;) await this.#live(site)
    } catch (error) {
      // The site is gone, in the middle of a request or between two.
      if (!isConnectionError(error)) throw error
    }
  }

  async #live(site: Visited): Promise<void> {
    const name = `P${crypto.randomUUID().replaceAll('-', '')}`
    const signUp = await site.visitor().json('/users', registration(name))
    this.#acknowledge(signUp, 201)
    const entry: Entry = { email: `${name.toLowerCase()}@example.com`, sessions: new Map(), tokens: [] }
    this.#entries.push(entry)

    for (let count = 0; count < 3; count += 1) {
      const visitor = site.visitor()
      this.#acknowledge(await visitor.json('/login', { username: entry.email, password }), 200)
      const session = visitor.session ?? assert.fail('no session')
      entry.sessions.set(session, 'live')
      const token = await site.visitor().post('/login', basic(entry))
      this.#acknowledge(token, 200)
      entry.tokens.push(String(token.record.value))
      if (count === 0) continue
      entry.sessions.set(session, 'unknown')
      this.#acknowledge(await visitor.post('/logout'), 204)
      entry.sessions.set(session, 'over')
    }
  }

  #acknowledge({ request, status, text }: Answer, expected: number): void {
    assert.equal(status, expected, `${request}: ${text}`)
    this.#acknowledged += 1
    if (this.#acknowledged === this.#enough.count) this.#enough.reached()
  }

  /** Asserts that all of it is so. */
  async verify(site: Visited): Promise<void> {
    for (const { email, sessions, tokens } of this.#entries) {
      const statuses = await Promise.all([
        site.visitor().post('/login?as=user', basic({ email })),
        ...tokens.map((token) => site.visitor().get('/me', bearer(token))),
      ])
      for (const { request, status } of statuses) assert.equal(status, 200, `${request}: lost`)
      for (const [session, state] of sessions) {
        const { status } = await site.visitor(session).get('/me')
        if (state === 'live') assert.equal(status, 200, 'a session is lost')
        if (state === 'over') assert.equal(status, 401, 'a session that was ended is back')
      }
    }
  }
}

function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE'
}
