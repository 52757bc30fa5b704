import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { bearer, signIn, signUp, takeJWT, takeToken } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { countStatements } from './count-statements.ts'

const session = /^select data, kept, created_at, seen_at from sessions where digest = \?$/
const user =
  /^select `e`\..* from `users` as `e` +where `e`\.`id` = \? and `e`\.`disabled_at` is null limit 1$/
const tokenWithUser =
  /^select .* from `user_tokens` as `e` join `users` as `o` .* where `e`\.`value` = \? .* limit 1$/

/** What a request costs the database: each statement, in turn. A change that adds one is to be meant. */
const costs: Record<
  string,
  { who: 'visitor' | 'session' | 'token' | 'jwt'; asks: string; statements: RegExp[] }
> = {
  'a page of a visitor': { who: 'visitor', asks: 'GET /login', statements: [] },
  'the API for nobody': { who: 'visitor', asks: 'GET /me', statements: [] },
  'a page with a session': { who: 'session', asks: 'GET /account', statements: [session, user] },
  'the home page with a session': { who: 'session', asks: 'GET /', statements: [session, user] },
  'the API with a session': { who: 'session', asks: 'GET /me', statements: [session, user] },
  'the API with a token': { who: 'token', asks: 'GET /me', statements: [tokenWithUser] },
  'what admins may see, with a token': { who: 'token', asks: 'GET /secure', statements: [tokenWithUser] },
  'the API with a JWT': { who: 'jwt', asks: 'GET /me', statements: [user] },
  'a JWT that only has to be valid': { who: 'jwt', asks: 'POST /validateLoggedInUser', statements: [] },
}

describe('what a request costs the database', () => {
  test('is so many statements, prepared once, which read one row each by an index', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const person = await signUp(site)
    const ada = await signIn(site, person)
    const headers = {
      ...{ visitor: {}, session: {} },
      token: bearer(await takeToken(site, person)),
      jwt: bearer(await takeJWT(site, person)),
    }
    const ask = async (who: keyof typeof headers, asks: string) => {
      const [method = '', path = ''] = asks.split(' ')
      const visitor = who === 'session' ? ada : site.visitor()
      const { status } = await visitor.send(method, path, { accept: 'text/html', ...headers[who] })
      assert.ok(status === 200 || who === 'visitor', `${status}`)
    }
    // Somebody came before, and has the statements prepared.
    for (const { who, asks } of Object.values(costs)) await ask(who, asks)
    const statements = await countStatements(t, site)
    for (const [what, { who, asks, statements: expected }] of Object.entries(costs)) {
      for (let round = 0; round < 3; round += 1) await ask(who, asks)
      const asked = statements()
      assert.equal(asked.length, 3 * expected.length, `${what}:\n${asked.join('\n')}`)
      for (const [i, each] of asked.entries())
        assert.match(each, expected[i % expected.length] ?? assert.fail(what))
      for (const each of new Set(asked)) {
        const plan = await sql(site, `explain query plan ${each}`, ['x'])
        for (const { detail } of plan)
          assert.match(String(detail), /^SEARCH \w+ USING (COVERING )?INDEX/, what)
      }
      statements()
    }
  })
})
