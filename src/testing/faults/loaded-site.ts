import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { connectTo } from '../postgres-connection.ts'
import type { PostgresServer } from '../postgres-server.ts'
import { startServer, temporaryFolder } from '../server-process.ts'
import { Ledger } from './ledger.ts'
import { assertStatuses, isSuccess, isUnavailable, untilAllSucceed, userRequests } from './user-requests.ts'

export const poolSize = 4

/** Starts a server with a new database and constant writes, which a ledger records. */
export async function startLoadedSite(t: TestContext, postgres: Pick<PostgresServer, 'url'>) {
  const admin = await connectTo(postgres.url)
  const name = `site_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.execute(`create database ${name}`)
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  const variables = {
    DATA_DIR: await temporaryFolder(t),
    DATABASE_URL: url.href,
    DATABASE_POOL: String(poolSize),
    THROTTLE: 'off',
  }
  const server = await startServer(t, variables)
  const { open, reading, writing } = await userRequests(server)
  const { 'GET / by session': home = assert.fail, ...guarded } = reading
  const { 'POST /logout': logOut = assert.fail, ...others } = writing
  const ledger = new Ledger({ isUnavailable: true })
  const busy = Promise.all([1, 2, 3, 4].map(() => ledger.keepBusy(server)))
  busy.catch(() => {})
  return {
    admin,
    name,
    server,
    more: (count: number) => Promise.race([ledger.more(count), busy]),
    /** Asserts that requests that need the database get 503 and others succeed. */
    assertUnavailable: () =>
      Promise.all([
        assertStatuses(isUnavailable, guarded, others),
        assertStatuses(isSuccess, open, { home }),
      ]),
    /** Waits until all requests except `POST /logout` succeed. */
    assertRecovered: () => untilAllSucceed(open, reading, others),
    /** Stops the server, and asserts that no error was fatal and no acknowledged write was lost. */
    async assertNothingLost() {
      await untilAllSucceed({ logOut })
      server.child.kill('SIGTERM')
      await busy
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      const fatal = server.log.filter(({ level }) => Number(level) >= 60)
      assert.deepEqual(fatal, [])
      await ledger.verify(await startServer(t, variables))
      t.diagnostic(
        `${ledger.acknowledged} acknowledged, ${ledger.refused} refused with 503, the longest response took ${ledger.longest.toFixed(1)} s`,
      )
    },
  }
}
