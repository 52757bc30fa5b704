import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { bearer, takeJWT, takeToken } from '../testing/people.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import type { Site } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'
import { onlyPostgres, onlySqlite } from '../testing/test-database.ts'

interface Cost {
  readonly client: 'visitor' | 'session' | 'token' | 'jwt'
  readonly request: string
  /** The number of statements of a request whose look-ups are already prepared. */
  readonly statements: number
}

const costs: Record<string, Cost> = {
  'a page without a session': { client: 'visitor', request: 'GET /login', statements: 0 },
  'the API without credentials': { client: 'visitor', request: 'GET /me', statements: 0 },
  'a sign-out without a session': { client: 'visitor', request: 'POST /logout', statements: 0 },
  'a page with a session': { client: 'session', request: 'GET /account/close', statements: 1 },
  'the home page with a session': { client: 'session', request: 'GET /', statements: 1 },
  'the API with a session': { client: 'session', request: 'GET /me', statements: 1 },
  'the API with a token': { client: 'token', request: 'GET /me', statements: 1 },
  'the admin route with a token': { client: 'token', request: 'GET /secure', statements: 1 },
  'the API with a JWT': { client: 'jwt', request: 'GET /me', statements: 1 },
  'a route that only verifies the JWT': {
    client: 'jwt',
    request: 'POST /validateLoggedInUser',
    statements: 0,
  },
}

async function siteWithClients(t: TestContext) {
  const { site, person, ada: signedIn } = await siteWithAda(t, { THROTTLE: 'on' })
  const headers = {
    ...{ visitor: {}, session: {} },
    token: bearer(await takeToken(site, person)),
    jwt: bearer(await takeJWT(site, person)),
  }
  const send = async ({ client, request }: Cost) => {
    const [method = '', path = ''] = request.split(' ')
    const visitor = client === 'session' ? signedIn : site.visitor()
    return (await visitor.send(method, path, { accept: 'text/html', ...headers[client] })).status
  }
  // The first request of each kind prepares its statements.
  for (const cost of Object.values(costs)) {
    const status = await send(cost)
    assert.ok(status === 200 || cost.client === 'visitor', `${status}`)
  }
  await site.writeUses()
  return { site, send, statements: await recordSiteStatements(t, site) }
}

/** How often prepared statements were executed on the connection that the pool used last. */
async function executions(site: Site): Promise<number> {
  const [row] = await sql(
    site,
    "select coalesce(sum(generic_plans + custom_plans), 0) as times from pg_prepared_statements where name <> ''",
  )
  return Number(row?.times)
}

describe('database cost of a request', () => {
  test(
    'is a fixed number of statements, each a search by the primary key',
    onlySqlite('the test reads query plans of SQLite'),
    async (t) => {
      const { site, send, statements } = await siteWithClients(t)
      for (const [name, cost] of Object.entries(costs)) {
        for (let round = 0; round < 3; round += 1) await send(cost)
        const executed = statements()
        assert.equal(executed.length, 3 * cost.statements, `${name}:\n${executed.join('\n')}`)
        for (const statement of new Set(executed)) {
          const plan = await sql(site, `explain query plan ${statement}`, ['x'])
          assert.ok(plan.length > 0)
          for (const { detail } of plan) assert.match(String(detail), /^SEARCH \w+ USING PRIMARY KEY/, name)
        }
        statements()
      }
    },
  )

  test('is the same on PostgreSQL, and all statements are prepared', onlyPostgres, async (t) => {
    const { site, send, statements } = await siteWithClients(t)
    for (const [name, cost] of Object.entries(costs)) {
      const before = await executions(site)
      statements()
      for (let round = 0; round < 3; round += 1) await send(cost)
      const executed = statements()
      assert.equal(executed.length, 3 * cost.statements, `${name}:\n${executed.join('\n')}`)
      assert.equal((await executions(site)) - before, executed.length, name)
    }
  })

  test(
    'includes one update after the response if the last use of the session or token is over a minute ago',
    onlySqlite('on PostgreSQL, a select locks the rows before the update'),
    async (t) => {
      const { site, send, statements } = await siteWithClients(t)
      for (const [name, cost] of Object.entries(costs)) {
        await sql(site, 'update sessions set seen_at = seen_at - 120000')
        await sql(site, 'update user_tokens set last_used_at = 0')
        statements()
        for (let round = 0; round < 3; round += 1) await send(cost)
        assert.equal(statements().length, 3 * cost.statements, name)
        await site.writeUses()
        const written = statements()
        const isLastUseWritten = cost.client === 'session' || cost.client === 'token'
        assert.equal(written.length, isLastUseWritten ? 1 : 0, `${name}:\n${written.join('\n')}`)
      }
    },
  )
})
