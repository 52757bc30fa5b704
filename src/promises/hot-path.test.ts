import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { sql } from '../testing/database.ts'
import { bearer, signIn, signUp, takeJWT, takeToken } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { onlyPostgres, onlySqlite } from '../testing/test-database.ts'
import { countStatements } from './count-statements.ts'

const sessionWithUser =
  /^select .* from `sessions` as `e` join `users` as `o` .* where `e`\.`digest` = (\?|\$1) .* limit 1$/
const user =
  /^select `e`\..* from `users` as `e` +where `e`\.`id` = (\?|\$1) and `e`\.`disabled_at` is null limit 1$/
const tokenWithUser =
  /^select .* from `user_tokens` as `e` join `users` as `o` .* where `e`\.`value` = (\?|\$1) .* limit 1$/

interface Cost {
  readonly who: 'visitor' | 'session' | 'token' | 'jwt'
  readonly asks: string
  readonly statements: readonly RegExp[]
}

/** What a request costs the database: each statement, in turn. A change that adds one is to be meant. */
const costs: Record<string, Cost> = {
  'a page of a visitor': { who: 'visitor', asks: 'GET /login', statements: [] },
  'the API for nobody': { who: 'visitor', asks: 'GET /me', statements: [] },
  'signing out nobody': { who: 'visitor', asks: 'POST /logout', statements: [] },
  'a page with a session': { who: 'session', asks: 'GET /account', statements: [sessionWithUser] },
  'the home page with a session': { who: 'session', asks: 'GET /', statements: [sessionWithUser] },
  'the API with a session': { who: 'session', asks: 'GET /me', statements: [sessionWithUser] },
  'the API with a token': { who: 'token', asks: 'GET /me', statements: [tokenWithUser] },
  'what admins may see, with a token': { who: 'token', asks: 'GET /secure', statements: [tokenWithUser] },
  'the API with a JWT': { who: 'jwt', asks: 'GET /me', statements: [user] },
  'a JWT that only has to be valid': { who: 'jwt', asks: 'POST /validateLoggedInUser', statements: [] },
}

/** Somebody to ask as each kind of client would. */
async function siteWithAda(t: TestContext, environment: Record<string, string> = {}) {
  const site = await startSite(t, { THROTTLE: 'on', ...environment })
  const person = await signUp(site)
  const ada = await signIn(site, person)
  const headers = {
    ...{ visitor: {}, session: {} },
    token: bearer(await takeToken(site, person)),
    jwt: bearer(await takeJWT(site, person)),
  }
  const ask = async ({ who, asks }: Pick<Cost, 'who' | 'asks'>) => {
    const [method = '', path = ''] = asks.split(' ')
    const visitor = who === 'session' ? ada : site.visitor()
    return (await visitor.send(method, path, { accept: 'text/html', ...headers[who] })).status
  }
  // Somebody came before, and has the statements prepared; more than once, and is remembered.
  for (let time = 0; time < 3; time += 1)
    for (const cost of Object.values(costs)) {
      const status = await ask(cost)
      assert.ok(status === 200 || cost.who === 'visitor', `${status}`)
    }
  // So that nothing is left to be noted.
  await site.writeUses()
  return { site, ask, statements: await countStatements(t, site) }
}

/** How often each statement that is prepared was run, on the connection that is asked first: the last that was free. */
async function timesRun(site: Site): Promise<Map<string, number>> {
  const rows = await sql(
    site,
    "select statement, generic_plans + custom_plans as times from pg_prepared_statements where name <> ''",
  )
  return new Map(rows.map(({ statement, times }) => [String(statement).replaceAll('"', '`'), Number(times)]))
}

const itself = 'it is about its statements, its plans and the head of its write-ahead log'

describe('what a request costs the database', () => {
  test(
    'is so many statements, prepared once, which read one row each by its primary key',
    onlySqlite(itself),
    async (t) => {
      const { site, ask, statements } = await siteWithAda(t, { LOOKUP_CACHE: 'off' })
      for (const [what, { statements: expected, ...cost }] of Object.entries(costs)) {
        for (let round = 0; round < 3; round += 1) await ask(cost)
        const asked = statements()
        assert.equal(asked.length, 3 * expected.length, `${what}:\n${asked.join('\n')}`)
        for (const [i, each] of asked.entries())
          assert.match(each, expected[i % expected.length] ?? assert.fail(what))
        for (const each of new Set(asked)) {
          const plan = await sql(site, `explain query plan ${each}`, ['x'])
          for (const { detail } of plan) assert.match(String(detail), /^SEARCH \w+ USING PRIMARY KEY/, what)
        }
        statements()
      }
    },
  )

  test(
    'is the same on PostgreSQL, where each connection prepares them once, by name',
    onlyPostgres,
    async (t) => {
      const { site, ask, statements } = await siteWithAda(t)
      for (const [what, { statements: expected, ...cost }] of Object.entries(costs)) {
        const before = await timesRun(site)
        statements()
        for (let round = 0; round < 3; round += 1) await ask(cost)
        const asked = statements()
        assert.equal(asked.length, 3 * expected.length, `${what}:\n${asked.join('\n')}`)
        for (const [i, each] of asked.entries())
          assert.match(each, expected[i % expected.length] ?? assert.fail(what))
        const after = await timesRun(site)
        for (const [statement, times] of after) {
          const isAsked = asked.includes(statement)
          assert.equal(times - (before.get(statement) ?? 0), isAsked ? 3 : 0, `${what}:\n${statement}`)
        }
        for (const each of asked) assert.ok(after.has(each), `${what} is not prepared:\n${each}`)
        assert.deepEqual([...after.keys()], [...before.keys()], what)
      }
    },
  )

  test(
    'is no statement more where a minute has passed since somebody was seen: that is written down behind the answer',
    onlySqlite(itself),
    async (t) => {
      const { site, ask, statements } = await siteWithAda(t, { LOOKUP_CACHE: 'off' })
      const noted = {
        session: /^update `sessions` set `seen_at`/,
        token: /^update `user_tokens` set `last_used_at`/,
      }
      for (const [what, { statements: expected, ...cost }] of Object.entries(costs)) {
        await sql(site, 'update sessions set seen_at = seen_at - 120000')
        await sql(site, 'update user_tokens set last_used_at = 0')
        statements()
        for (let round = 0; round < 3; round += 1) await ask(cost)
        await site.writeUses()
        const all = statements()
        const asked = all.filter((each) => expected.some((one) => one.test(each)))
        assert.equal(asked.length, 3 * expected.length, what)
        const wanted = expected.length > 0 ? Reflect.get(noted, cost.who) : undefined
        const written = all.filter((each) => !each.startsWith('select'))
        assert.equal(written.length, wanted ? 1 : 0, `${what}:\n${written.join('\n')}`)
        for (const each of written) assert.match(each, wanted ?? assert.fail(what))
      }
    },
  )

  test(
    'is nothing while nothing is committed, and the same again when anything was, by us or by another process',
    onlySqlite(itself),
    async (t) => {
      const { site, ask, statements } = await siteWithAda(t)
      const other = new Database(join(site.config.dataDir, 'site.sqlite'))
      // Another each time: SQLite commits nothing where nothing is different.
      let nth = 0
      const commits = [
        () => sql(site, `update users set name = 'Ada ${nth++}'`),
        () => other.exec(`update users set name = 'Ada ${nth++}'`),
        () => other.exec(`update sessions set user_agent = '${nth++}'`),
      ]
      for (const [what, { statements: expected, ...cost }] of Object.entries(costs)) {
        for (const commit of commits) {
          await commit()
          await ask(cost)
          statements()
          for (let round = 0; round < 3; round += 1) await ask(cost)
          assert.deepEqual(statements(), [], what)
          await commit()
          statements()
          await ask(cost)
          assert.equal(statements().length, expected.length, what)
        }
      }
      other.close()
    },
  )

  test(
    'stays nothing for whoever was not, when it is written down that somebody was seen',
    onlySqlite(itself),
    async (t) => {
      const { site, ask, statements } = await siteWithAda(t)
      const [seen, other] = [costs['the API with a session'], costs['the API with a token']]
      assert.ok(seen && other)
      await sql(site, 'update sessions set seen_at = seen_at - 120000')
      for (let round = 0; round < 3; round += 1) for (const each of [seen, other]) await ask(each)
      await site.writeUses()
      statements()
      await ask(other)
      assert.deepEqual(statements(), [])
      await ask(seen)
      assert.equal(statements().length, seen.statements.length)
      await ask(seen)
      assert.deepEqual(statements(), [])
    },
  )
})
