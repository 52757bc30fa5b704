import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type DatabaseProxy, startProxy } from '../../testing/database-proxy.ts'
import { until } from '../../testing/faults/until.ts'
import {
  assertStatuses,
  isSuccess,
  isUnavailable,
  untilAllSucceed,
  userRequests,
} from '../../testing/faults/user-requests.ts'
import { startSite } from '../../testing/site.ts'
import { makeDatabase, onlyPostgres } from '../../testing/test-database.ts'

const pool = 4

/** A site that connects to its database through a proxy, and requests of a user. */
async function startProxiedSite(t: TestContext) {
  const database = await makeDatabase('')
  const proxy = await startProxy(t, database.url)
  const variables = { DATABASE_URL: proxy.url, DATABASE_POOL: String(pool) }
  const site = await startSite(t, variables, { databaseTimeout: 4_000 })
  t.after(() => database.drop())
  const { open, reading, writing, ...others } = await userRequests(site)
  const { 'GET / by session': home = assert.fail, ...guarded } = reading
  const assertUnavailable = () =>
    Promise.all([assertStatuses(isUnavailable, guarded, writing), assertStatuses(isSuccess, open, { home })])
  const untilAvailable = () => untilAllSucceed(open, reading, writing)
  return { proxy, assertUnavailable, untilAvailable, ...others }
}

const failures: Record<string, (proxy: DatabaseProxy) => void> = {
  'open connections are closed and new ones are refused': (proxy) => proxy.refuse(),
  'the network drops all data': (proxy) => proxy.dropData(),
  'the network is slower than all timeouts': (proxy) => proxy.delay(10_000),
}

describe('a site with an unreliable network to PostgreSQL', onlyPostgres, () => {
  for (const [what, fail] of Object.entries(failures)) {
    test(`N2 responds with 503 to requests that need the database while ${what}, and recovers without a lost session or token, or a leaked connection`, async (t) => {
      const { proxy, assertUnavailable, untilAvailable } = await startProxiedSite(t)
      for (let round = 0; round < 2; round += 1) {
        fail(proxy)
        await assertUnavailable()
        await assertUnavailable()
        proxy.recover()
        await untilAvailable()
        assert.ok(proxy.connections <= pool, `${proxy.connections} connections`)
      }
    })
  }

  test('N2 recovers if a firewall has dropped all idle connections', async (t) => {
    const { proxy, untilAvailable, ada } = await startProxiedSite(t)
    const many = () => Promise.all(Array.from({ length: 50 }, async () => (await ada.get('/me')).status))
    await until('all connections are open', async () => {
      await many()
      return proxy.connections === pool
    })
    proxy.dropOpenConnections()
    await until('the site has recovered', async () => (await many()).every((status) => status === 200))
    await untilAvailable()
    assert.ok(proxy.connections <= pool, `${proxy.connections} connections`)
  })
})
