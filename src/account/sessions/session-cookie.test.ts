import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { auth, SessionAuthenticator } from '#auth'
import { databases, KeyLookUp } from '#auth/mikro-orm'
import { serve } from '../../auth/testing/serve.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { count, dump, sql } from '../../testing/database.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { recordSiteStatements } from '../../testing/record-site-statements.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { onlySqlite } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { replaceSession, sessionCookie } from './session-cookie.ts'
import { SessionStore } from './session-store.ts'

describe('sessionCookie', () => {
  test('E1 F4 contains 256 random bits, and the database stores only their SHA-256', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ids = new Set<string>()
    for (let i = 0; i < 10; i += 1) ids.add((await signIn(site, person)).session ?? '')
    assert.equal(ids.size, 10)
    const stored = (await dump(site)).sessions?.map(({ digest }) => digest)
    for (const id of ids) {
      assert.equal(Buffer.from(id, 'base64url').length, 32)
      assert.ok(stored?.includes(hash('sha256', id, 'base64url')))
      assert.ok(!JSON.stringify(stored).includes(id))
    }
  })

  test('E12 is rejected if it is a digest from a stolen database', async (t) => {
    const site = await startSite(t)
    await signIn(site, await signUp(site))
    const [row] = await sql(site, 'select digest from sessions')
    assert.equal((await site.visitor(String(row?.digest)).get('/me')).status, 401)
  })

  test('E2 E15 is ignored with an invalid value or under another name, runs at most one look-up, and writes no row', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    const odd = [
      '',
      'x',
      'x'.repeat(43),
      'x'.repeat(4000),
      '__proto__',
      "' or 1=1 --",
      '%00',
      `${ada.session}x`,
      ada.session?.toLowerCase() ?? '',
      '{"user":"x"}',
      '"',
      '=',
    ]
    const statements = await recordSiteStatements(t, site)
    for (const value of odd) {
      const { status, cookies } = await site.visitor().get('/me', { cookie: `session=${value}` })
      assert.deepEqual([status, cookies], [401, []], value.slice(0, 50))
      assert.ok(statements().length <= (/[\w-]{43}/.test(value) ? 1 : 0), value.slice(0, 50))
    }
    const others = [
      `SESSION=${ada.session}`,
      `x=${ada.session}`,
      `__Host-session=${ada.session}`,
      ';;;=',
      '\xff',
    ]
    for (const cookie of others)
      assert.equal((await site.visitor().get('/me', { cookie })).status, 401, cookie)
    assert.deepEqual(await dump(site), before)
  })

  test('authenticates no user if the stored user id is malformed or unknown', async (t) => {
    const { site, ada } = await siteWithAda(t)
    for (const user of [
      'x',
      '',
      '__proto__',
      1,
      null,
      ['x'],
      { $ne: '' },
      '00000000-0000-7000-8000-000000000000',
    ]) {
      await sql(site, 'update sessions set data = ?', [JSON.stringify({ user })])
      assert.equal((await ada.get('/me')).status, 401, JSON.stringify(user))
      assert.equal((await ada.page('/')).status, 200)
    }
  })
})

describe('sessions with a custom handler', () => {
  test('are not restored by a request that is running during a sign-out', async (t) => {
    const { visitor, held, site, url } = await siteWithHandlers(t)
    const running = fetch(`${url}/slow`, { headers: { cookie: visitor.cookie } })
    await held.begun
    await site.visitor(visitor.session).post('/logout')
    assert.equal(await count(site, 'sessions'), 0)
    held.release()
    assert.equal((await running).status, 200)
    assert.equal(await count(site, 'sessions'), 0)
    assert.equal((await site.visitor(visitor.session).get('/me')).status, 401)
  })

  test('T14 are not replaced if they end while the handler confirms the identity', async (t) => {
    const { visitor, held, site, url } = await siteWithHandlers(t)
    const running = fetch(`${url}/slow-proof`, { headers: { cookie: visitor.cookie } })
    await held.begun
    await site.visitor(visitor.session).post('/logout')
    held.release()
    const { status, headers } = await running
    assert.deepEqual([status, headers.getSetCookie()], [409, []])
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('save data of a handler in the existing row', async (t) => {
    const { visitor, held, site, url } = await siteWithHandlers(t)
    held.release()
    await fetch(`${url}/slow`, { headers: { cookie: visitor.cookie } })
    const [row, ...others] = await sql(site, 'select data from sessions')
    assert.deepEqual([JSON.parse(String(row?.data)).note, others], ['written', []])
  })

  test('do not save data of a handler that throws', async (t) => {
    const { visitor, site, url } = await siteWithHandlers(t)
    const { sessions: before } = await dump(site)
    assert.equal((await fetch(`${url}/throws`, { headers: { cookie: visitor.cookie } })).status, 500)
    assert.deepEqual((await dump(site)).sessions, before)
  })

  test('end at sign-out even if the handler throws afterwards', async (t) => {
    const { visitor, site, url } = await siteWithHandlers(t)
    assert.equal(
      (await fetch(`${url}/logs-out-and-throws`, { headers: { cookie: visitor.cookie } })).status,
      500,
    )
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('reject data for a visitor, because only a signed-in user has a session', async (t) => {
    const { site, url } = await siteWithHandlers(t)
    assert.equal((await fetch(`${url}/throws`)).status, 500)
    const { status, headers } = await fetch(`${url}/writes`)
    assert.deepEqual([status, headers.getSetCookie()], [500, []])
    assert.equal(await count(site, 'sessions'), 1)
  })
})

describe('a session whose row is damaged', () => {
  const onlyJSON = onlySqlite('PostgreSQL accepts only JSON in the column')
  for (const [what, data, on] of [
    ['contains malformed JSON', '{', onlyJSON],
    ['contains null', 'null', {}],
  ] as const)
    test(`causes 503 instead of anonymous access if it ${what}`, on, async (t) => {
      const { site, ada } = await siteWithAda(t)
      await sql(site, 'update sessions set data = ?', [data])
      assert.equal((await ada.get('/me')).status, 503)
      await sql(site, 'delete from sessions')
      assert.equal((await ada.get('/me')).status, 401)
    })
})

/** A second application on the database of the site, with handlers for these tests. */
async function siteWithHandlers(t: TestContext) {
  const { site, ada } = await siteWithAda(t)
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const app = new Koa()
  app.use(databases(site.orm))
  app.use(auth())
  app.use(sessionCookie(app, new SessionStore(site.orm, site.uses.sessions), { isTls: false }))
  const users = new KeyLookUp(User)
  const options = { remember: 'signed-in', key: 'user' } as const
  app.use(SessionAuthenticator.from(User, (id, ctx) => users.find(ctx, id), options))
  app.use(async (ctx: SiteContext & { session: { note?: string } }) => {
    ctx.auth.has(User)
    if (ctx.path === '/logs-out-and-throws') ctx.auth.logout(User)
    else ctx.session.note = 'written'
    if (ctx.path.endsWith('throws')) throw new Error('on purpose')
    begun.resolve()
    if (ctx.path.startsWith('/slow')) await released.promise
    if (ctx.path === '/slow-proof') replaceSession(ctx, ctx.auth.require(User), ['pwd'])
    ctx.body = 'done'
  })
  const { url } = await serve(t, app)
  const visitor = { cookie: `session=${ada.session}`, session: ada.session }
  return { site, url, visitor, held: { begun: begun.promise, release: released.resolve } }
}
