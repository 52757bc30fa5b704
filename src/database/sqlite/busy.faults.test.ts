import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import {
  assertStatuses,
  isSuccess,
  isUnavailable,
  untilAllSucceed,
  userRequests,
} from '../../testing/faults/user-requests.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

/** A server, requests of a signed-in user, and another connection that can lock the database. */
async function startLockable(t: TestContext, options?: { readonly isPatient: boolean }) {
  const folder = await temporaryFolder(t)
  const server = await startServer(t, { DATA_DIR: folder }, options)
  const requests = await userRequests(server)
  const other = new Database(join(folder, 'site.sqlite'), { timeout: 0 })
  t.after(async () => void other.close())
  const write = async (sql: string) => {
    // A statement of the server may hold the lock for a moment.
    for (;;) {
      try {
        return other.exec(sql)
      } catch (error) {
        if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY')) throw error
        await new Promise(setImmediate)
      }
    }
  }
  return { server, other, write, lock: () => write('begin exclusive'), ...requests }
}

describe('a site whose SQLite database another process has locked', { concurrency: true }, () => {
  test('N2 N3 serves reads, responds to writes with 503, and recovers after the unlock', async (t) => {
    const { server, other, write, lock, open, reading, writing, ada, signingOut } = await startLockable(t)
    // Makes the last uses so old that the next request would write new ones.
    await write('update sessions set seen_at = seen_at - 600000')
    await write('update user_tokens set last_used_at = null')
    await lock()
    await Promise.all([assertStatuses(isSuccess, open, reading), assertStatuses(isUnavailable, writing)])
    assert.equal((await signingOut.get('/me')).status, 200, 'the session of a failed sign-out remains')

    other.exec('rollback')
    await untilAllSucceed(open, reading, writing)
    assert.equal((await signingOut.get('/me')).status, 401)
    assert.equal((await ada.get('/me')).status, 200)
    assert.equal(server.child.exitCode, null)
  })

  test('N3 serves reads during many waiting writes', async (t) => {
    const { server, lock, open, reading, person } = await startLockable(t)
    await lock()
    const guess = () => server.visitor().json('/login', { username: person.email, password: 'wrong' })
    const guesses = Array.from({ length: 60 }, guess)
    await assertStatuses(isSuccess, open, reading)
    for (const { status } of await Promise.all(guesses)) assert.equal(status, 503)
  })

  test('N3 completes writes if the unlock comes in time', async (t) => {
    const { server, other, lock, writing } = await startLockable(t, { isPatient: true })
    await lock()
    const waiting = assertStatuses(isSuccess, writing)
    await server.visitor().get('/healthz')
    other.exec('rollback')
    await waiting
  })
})
