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
import { type Site, startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { onlySqlite } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { replaceSession, sessionCookie } from './session-cookie.ts'
import { SessionStore } from './session-store.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

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

  test('is ignored with an invalid value or under another name, and no row is written', async (t) => {
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
    for (const value of odd) {
      const { status, cookies } = await site.visitor().get('/me', { cookie: `session=${value}` })
      assert.deepEqual([status, cookies], [401, []], value.slice(0, 50))
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

  test('ends after 2 hours without use', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await unused(site, 2 * hour - minute)
    assert.equal((await ada.get('/me')).status, 200)
    await unused(site, 2 * hour)
    assert.equal((await ada.page('/account')).headers.location, '/login?next=%2Faccount')
  })

  test('ends after 24 hours even if it is used', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await started(site, day - minute)
    assert.equal((await ada.get('/me')).status, 200)
    await started(site, day)
    assert.equal((await ada.get('/me')).status, 401)
  })

  test('ends after 14 days without use or 30 days in total if it is persistent', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const alive = async (change: (site: Site, age: number) => Promise<unknown>, age: number) => {
      const ada = await signIn(site, person, { remember: true })
      await change(site, age)
      const { status } = await ada.get('/me')
      await sql(site, 'delete from sessions')
      return status === 200
    }
    assert.equal(await alive(unused, 14 * day - minute), true)
    assert.equal(await alive(unused, 14 * day), false)
    assert.equal(await alive(started, 30 * day - minute), true)
    assert.equal(await alive(started, 30 * day), false)
  })

  test('has its last use recorded at most once a minute, and is not sent again', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await unused(site, minute - 10_000)
    const before = await dump(site)
    for (let i = 0; i < 20; i += 1) assert.deepEqual((await ada.page('/account')).cookies, [])
    assert.deepEqual(await dump(site), before)
    await unused(site, minute)
    const start = Date.now()
    await ada.page('/account')
    await site.writeUses()
    const [row] = await sql(site, 'select seen_at from sessions')
    assert.ok(Number(row?.seen_at) >= start)
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

/** Moves the last use of every session into the past. */
async function unused(site: Site, age: number) {
  await site.writeUses()
  return sql(site, 'update sessions set seen_at = ?', [Date.now() - age])
}

/** Moves the start of every session into the past. */
function started(site: Site, age: number) {
  return sql(site, 'update sessions set created_at = ?', [Date.now() - age])
}

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
