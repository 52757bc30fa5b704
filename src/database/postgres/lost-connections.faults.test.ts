import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type DatabaseProxy, startProxy } from '../../testing/database-proxy.ts'
import { assertAnswers, doors, isAway, isFine } from '../../testing/faults/doors.ts'
import { startSite } from '../../testing/site.ts'
import { makeDatabase, onlyPostgres, onServer } from '../../testing/test-database.ts'
import { soon, within } from '../../testing/within.ts'

const pool = 4

/** A site that a network lies in front of, and somebody who may do everything. */
async function scene(t: TestContext) {
  const database = await makeDatabase('')
  const proxy = await startProxy(t, database.url)
  const site = await startSite(t, { DATABASE_URL: proxy.url, DATABASE_POOL: String(pool) })
  t.after(() => database.drop())
  const { open, reading, writing, ...others } = await doors(site)
  const { 'GET / by session': home = assert.fail, ...guarded } = reading
  const assertAway = () =>
    Promise.all([
      within(3, assertAnswers(isAway, guarded, writing)),
      within(3, assertAnswers(isFine, open, { home })),
    ])
  const assertWell = () => assertAnswers(isFine, open, reading, writing)
  return { site, proxy, database, assertAway, assertWell, ...others }
}

const losses: Record<string, (proxy: DatabaseProxy) => void> = {
  'whoever is connected is cut off, and whoever connects is refused': (proxy) => proxy.refuse(),
  'nothing comes through, and nobody is told': (proxy) => proxy.fallSilent(),
  'everything takes longer than anybody waits': (proxy) => proxy.slowDown(4_000),
}

describe('a PostgreSQL behind a network', onlyPostgres, () => {
  for (const [what, lose] of Object.entries(losses)) {
    test(`N2 is away while ${what}, and there is no session, token or connection the less when it is back`, async (t) => {
      const { site, proxy, assertAway, assertWell, ada } = await scene(t)
      for (let round = 0; round < 2; round += 1) {
        lose(proxy)
        await assertAway()
        await assertAway()
        proxy.recover()
        await soon(async () => (await ada.get('/me')).status === 200)
        await assertWell()
        assert.ok(proxy.connections <= pool, `${proxy.connections} connections`)
      }
      assert.equal((await site.visitor().get('/readyz')).status, 200)
    })
  }

  test('N2 is there again at once for whom a firewall has forgotten', async (t) => {
    const { proxy, assertWell, ada } = await scene(t)
    const many = () => Promise.all(Array.from({ length: 50 }, () => ada.get('/me')))
    await many()
    assert.equal(proxy.connections, pool)
    proxy.forget()
    // Finds out about one of them.
    assert.equal((await within(3, ada.get('/me'))).status, 503)
    await soon(async () => (await ada.get('/me')).status === 200)
    for (const { status } of await within(1, many())) assert.equal(status, 200)
    await assertWell()
    assert.ok(proxy.connections <= pool, 'none of them is waited for')
  })

  test('may be far away: what takes a tenth of a second each way is no fault', async (t) => {
    const { proxy, assertWell } = await scene(t)
    proxy.slowDown(100)
    await assertWell()
  })

  test('N7 may end its connections again and again', async (t) => {
    const { site, proxy, database, assertWell, ada } = await scene(t)
    const name = new URL(database.url).pathname.slice(1)
    let isOver = false
    const busy = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const { status } = await ada.get('/me')
        assert.ok(status === 200 || status === 503, `${status}`)
      }
    })
    for (let round = 0; round < 20; round += 1) {
      await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
      await within(
        3,
        soon(async () => (await ada.get('/me')).status === 200),
      )
      assert.ok(proxy.connections <= pool, `${proxy.connections} connections`)
    }
    isOver = true
    await Promise.all(busy)
    await assertWell()
    const bugs = site.log.filter((line) => JSON.parse(line).level >= 60)
    assert.deepEqual(bugs, [])
  })
})
