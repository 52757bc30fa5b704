import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { after, describe, type TestContext, test } from 'node:test'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { poolSize, startLoadedSite } from '../../testing/faults/loaded-site.ts'
import { until } from '../../testing/faults/until.ts'
import { connectTo } from '../../testing/postgres-connection.ts'
import { type PostgresServer, startPostgres } from '../../testing/postgres-server.ts'

let started: Promise<PostgresServer> | undefined

/** One server for all tests. It syncs every commit to the disk. */
function durablePostgres(): Promise<PostgresServer> {
  started ??= startPostgres({ isDurable: true })
  return started
}

/** The ids of the server processes for the connections to a database. */
async function backends(admin: AbstractSqlConnection, name: string): Promise<number[]> {
  const rows = await admin.execute<{ pid: number }[]>(
    `select pid from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
  )
  return rows.map(({ pid }) => pid)
}

/** The id of the server process for this connection, or `undefined` if the connection is broken. */
async function backendOf(admin: AbstractSqlConnection): Promise<number | undefined> {
  try {
    const [row] = await admin.execute<{ pid: number }[]>('select pg_backend_pid() as pid')
    return row?.pid
  } catch {
    return undefined
  }
}

async function assertSurvives(t: TestContext, signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
  const postgres = await durablePostgres()
  const site = await startLoadedSite(t, postgres)
  for (let round = 0; round < 2; round += 1) {
    await site.more(30)
    await postgres.end(signal)
    await site.assertUnavailable()
    await postgres.start()
    await site.assertRecovered()
  }
  await site.assertNothingLost()
}

describe('a PostgreSQL server that fails under load', () => {
  after(async () => (await started)?.stop())

  test('N2 N5 loses no acknowledged write after SIGINT, and the site recovers without a restart', (t) =>
    assertSurvives(t, 'SIGINT'))

  test('N2 N5 loses no acknowledged write after SIGQUIT, and the site recovers without a restart', (t) =>
    assertSurvives(t, 'SIGQUIT'))

  test('N2 N5 loses no acknowledged write after SIGKILL, and the site recovers without a restart', (t) =>
    assertSurvives(t, 'SIGKILL'))

  test('N5 loses no acknowledged write when one of its processes is killed and all connections end', async (t) => {
    const site = await startLoadedSite(t, await durablePostgres())
    const { admin, name } = site
    for (let round = 0; round < 3; round += 1) {
      await site.more(30)
      const own = await backendOf(admin)
      const [pid = assert.fail()] = await backends(admin, name)
      process.kill(pid, 'SIGKILL')
      await until('all connections are closed', async () => (await backendOf(admin)) !== own)
      await site.assertRecovered()
      await until('the server accepts connections', async () => (await backendOf(admin)) !== undefined)
    }
    await site.assertNothingLost()
  })

  test('N2 freezes, and the site responds to new requests within six seconds', async (t) => {
    const postgres = await durablePostgres()
    const site = await startLoadedSite(t, postgres)
    for (let round = 0; round < 2; round += 1) {
      await site.more(30)
      await postgres.freeze()
      try {
        await site.assertUnavailable()
      } finally {
        await postgres.thaw()
      }
      await site.assertRecovered()
    }
    await site.assertNothingLost()
  })

  test('N10 restarts twenty times, and the site leaks no connection and no file', {
    skip: !existsSync('/proc/self/fd') && 'needs /proc',
  }, async (t) => {
    const postgres = await durablePostgres()
    const site = await startLoadedSite(t, postgres)
    const openFiles = () => readdirSync(`/proc/${site.server.child.pid}/fd`).length
    await site.more(30)
    const before = openFiles()
    for (let round = 0; round < 20; round += 1) {
      await site.more(5)
      await postgres.end('SIGQUIT')
      await postgres.start()
    }
    await site.assertRecovered()
    const admin = await connectTo(postgres.url)
    const connections = async () => (await backends(admin, site.name)).length
    await until('the site has at most `poolSize` connections', async () => (await connections()) <= poolSize)
    await until('files are closed', () => openFiles() <= before + poolSize)
    await site.assertNothingLost()
  })
})
