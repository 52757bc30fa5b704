import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { assertStatuses, isSuccess, userRequests } from '../../testing/faults/user-requests.ts'
import { connectTo } from '../../testing/postgres-connection.ts'
import { startSite } from '../../testing/site.ts'
import { onlyPostgres } from '../../testing/test-database.ts'

/** Starts a site with two database connections. Returns requests, and an assertion that the pool works. */
async function startLimited(t: TestContext, limits = {}) {
  const site = await startSite(t, { DATABASE_POOL: '2' }, limits)
  const requests = await userRequests(site)
  const assertAvailable = async () => {
    await assertStatuses(isSuccess, requests.open, requests.reading, requests.writing)
    const [row] = await sql(
      site,
      'select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    assert.ok(Number(row?.n) <= 2, `${row?.n} connections besides this one`)
  }
  return { site, assertAvailable, ...requests }
}

describe('a pool of two connections', onlyPostgres, () => {
  test('N10 serves 200 concurrent requests, or rejects those that wait too long with 503', async (t) => {
    const { ada, assertAvailable } = await startLimited(t)
    const request = async () => (await ada.get('/me')).status
    const statuses = await Promise.all(Array.from({ length: 200 }, request))
    for (const status of statuses) assert.ok(status === 200 || status === 503, `${status}`)
    assert.ok(statuses.includes(200))
    await assertAvailable()
  })

  test('N10 rejects requests with 503 and Retry-After while its connections wait for a lock, and recovers afterwards', async (t) => {
    const { site, ada, open, assertAvailable } = await startLimited(t, { databaseTimeout: 5_000 })
    const other = await connectTo(site.database.url)
    const held = await other.begin()
    await other.execute('lock table sessions, users in access exclusive mode', [], 'all', held)
    const responses = Promise.all(Array.from({ length: 100 }, () => ada.get('/me')))
    await assertStatuses(isSuccess, open)
    for (const { status, headers } of await responses) {
      assert.equal(status, 503)
      assert.match(headers['retry-after'] ?? '', /^\d+$/)
    }
    await other.rollback(held)
    await assertStatuses(isSuccess, { me: () => ada.get('/me') })
    await assertAvailable()
  })

  test('N10 releases the connections of aborted requests', async (t) => {
    const { site, ada, assertAvailable } = await startLimited(t)
    const hangUp = new AbortController()
    const headers = { cookie: `session=${ada.session}` }
    const responses = Array.from({ length: 100 }, () =>
      fetch(`${site.url}/me`, { headers, signal: hangUp.signal }),
    )
    await ada.get('/healthz')
    hangUp.abort()
    await Promise.allSettled(responses)
    await assertAvailable()
  })
})
