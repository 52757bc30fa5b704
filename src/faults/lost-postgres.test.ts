import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { after, describe, type TestContext, test } from 'node:test'
import type { AbstractSqlConnection } from '@mikro-orm/sqlite'
import { connectTo } from '../testing/postgres-connection.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres-server.ts'
import { quiet } from '../testing/quiet.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { soon, within } from '../testing/within.ts'
import { assertAnswers, doors, isAway, isFine } from './doors.ts'
import { Ledger } from './ledger.ts'
import { until } from './until.ts'

const pool = 4

let started: Promise<PostgresServer> | undefined

/** One for all of these tests, which has written to the disk what it says is done. */
function careful(): Promise<PostgresServer> {
  started ??= startPostgres({ isCareful: true })
  return started
}

/** A busy server on a database of its own, with somebody who may do everything, and what it has told people. */
async function scene(t: TestContext) {
  const postgres = await careful()
  const admin = await connectTo(postgres.url)
  const name = `site_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.execute(`create database ${name}`)
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  const variables = {
    DATA_DIR: await temporaryFolder(t),
    DATABASE_URL: url.href,
    DATABASE_POOL: String(pool),
    THROTTLE: 'off',
  }
  const server = await startServer(t, variables)
  const { open, reading, writing } = await doors(server)
  const { 'GET / by session': home = assert.fail, ...guarded } = reading
  const { 'POST /logout': logOut = assert.fail, ...others } = writing
  const ledger = new Ledger({ mayBeAway: true })
  const busy = Promise.all([1, 2, 3, 4].map(() => ledger.keepBusy(server)))
  busy.catch(() => {})
  return {
    postgres,
    admin,
    name,
    server,
    more: (count: number) => Promise.race([ledger.more(count), busy]),
    assertAway: () =>
      Promise.all([
        within(3, assertAnswers(isAway, guarded, others)),
        within(3, assertAnswers(isFine, open, { home })),
      ]),
    assertWell: () =>
      soon(() =>
        assertAnswers(isFine, open, reading, others).then(
          () => true,
          () => false,
        ),
      ),
    /** Nobody crashed, nobody waited for long, and nothing that anybody was told is lost. */
    async assertKept() {
      assert.equal((await logOut()).status, 204)
      server.child.kill('SIGTERM')
      await busy
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      assert.deepEqual(
        server.log.filter(({ level }) => Number(level) >= 60),
        [],
      )
      assert.ok(ledger.longest < quiet(5), `somebody waited for ${ledger.longest} s`)
      await ledger.verify(await startServer(t, variables))
      t.diagnostic(
        `${ledger.acknowledged} acknowledged, the longest answer took ${ledger.longest.toFixed(1)} s`,
      )
    },
  }
}

/** The processes that serve the connections to a database. */
async function backends(admin: AbstractSqlConnection, name: string): Promise<number[]> {
  const rows = await admin.execute<{ pid: number }[]>(
    `select pid from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
  )
  return rows.map(({ pid }) => pid)
}

/** The process that serves this connection, if there is one. */
async function backendOf(admin: AbstractSqlConnection): Promise<number | undefined> {
  try {
    const [row] = await admin.execute<{ pid: number }[]>('select pg_backend_pid() as pid')
    return row?.pid
  } catch {
    return undefined
  }
}

describe('a PostgreSQL that goes away under load', () => {
  after(async () => (await started)?.stop())

  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)
    test(`by ${signal} has lost nothing that was acknowledged when it is back, and all is well without a restart`, async (t) => {
      const { postgres, more, assertAway, assertWell, assertKept } = await scene(t)
      for (let round = 0; round < 2; round += 1) {
        await more(30)
        await postgres.end(signal)
        await assertAway()
        await postgres.start()
        await assertWell()
      }
      await assertKept()
    })

  test('because one of its processes is killed, and all others with it, has lost nothing either', async (t) => {
    const { admin, name, more, assertWell, assertKept } = await scene(t)
    for (let round = 0; round < 3; round += 1) {
      await more(30)
      const own = await backendOf(admin)
      const [pid = assert.fail()] = await backends(admin, name)
      process.kill(pid, 'SIGKILL')
      await until('all have gone with it', async () => (await backendOf(admin)) !== own)
      await assertWell()
      await until('there are others', async () => (await backendOf(admin)) !== undefined)
    }
    await assertKept()
  })

  test('because its clock stands still makes nobody wait for more than three seconds', async (t) => {
    const { postgres, more, assertAway, assertWell, assertKept } = await scene(t)
    for (let round = 0; round < 2; round += 1) {
      await more(30)
      await postgres.freeze()
      try {
        await assertAway()
      } finally {
        await postgres.thaw()
      }
      await assertWell()
    }
    await assertKept()
  })

  test('twenty times leaves no connection behind, and no file open', {
    skip: !existsSync('/proc/self/fd') && 'needs /proc',
  }, async (t) => {
    const { postgres, name, server, more, assertWell, assertKept } = await scene(t)
    const openFiles = () => readdirSync(`/proc/${server.child.pid}/fd`).length
    await more(30)
    const before = openFiles()
    for (let round = 0; round < 20; round += 1) {
      await more(5)
      await postgres.end('SIGQUIT')
      await postgres.start()
    }
    await assertWell()
    const admin = await connectTo(postgres.url)
    await until('no more are connected than may be', async () => (await backends(admin, name)).length <= pool)
    await until('files are closed', () => openFiles() <= before + pool)
    await assertKept()
  })
})
