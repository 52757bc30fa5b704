import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { sql } from '../../testing/database.ts'
import { assertStatuses, isSuccess, isUnavailable, userRequests } from '../../testing/faults/user-requests.ts'
import { registration } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'
import { startSite } from '../../testing/site.ts'

// Ignores SIGXFSZ, which would kill the process at a write beyond the maximum size of a file.
const ignoreSignal = `--import=data:text/javascript,process.on('SIGXFSZ',()=>{})`

describe('a site on a full disk', () => {
  test('N4 rejects sign-ups with 503, serves reads, loses no acknowledged sign-up, and recovers without a restart', async (t) => {
    const site = await startSite(t)
    const { signingOut, open, reading, writing } = await userRequests(site)
    const [size] = await sql(site, 'pragma page_count')
    await sql(site, `pragma max_page_count = ${size?.page_count}`)
    const signedUp: string[] = []
    for (let status = 201; status === 201; ) {
      const name = `Filler${signedUp.length}`
      const answer = await site.visitor().json('/users', registration(name))
      status = answer.status
      if (status === 201) signedUp.push(String(answer.record.id))
      else assert.equal(status, 503)
    }

    for (let round = 0; round < 3; round += 1) {
      await assertStatuses((status) => isSuccess(status) || isUnavailable(status), writing)
      await assertStatuses(isSuccess, open, reading)
    }
    assert.equal((await writing['POST /users']?.())?.status, 503)
    assert.ok(site.log.some((line) => line.includes('SQLITE_FULL')))

    await sql(site, 'pragma max_page_count = 1000000')
    await assertStatuses(isSuccess, open, reading, writing)
    assert.equal((await signingOut.get('/me')).status, 401)
    assert.deepEqual(await sql(site, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
    const [users] = await sql(
      site,
      `select count(*) as n from users where id in ('${signedUp.join("', '")}')`,
    )
    assert.equal(users?.n, signedUp.length)
  })

  test('N4 responds with 503 to writes that the operating system rejects, and recovers without a restart', async (t) => {
    const folder = await temporaryFolder(t)
    const variables = { DATA_DIR: folder, NODE_OPTIONS: ignoreSignal }
    const server = await startServer(t, variables, { isPatient: true })
    const { ada, signingOut, open, reading, writing } = await userRequests(server)
    const limit = (bytes: string) =>
      execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}`])
    limit('4096:unlimited')
    for (let round = 0; round < 2; round += 1) {
      await assertStatuses(isUnavailable, writing)
      await assertStatuses(isSuccess, open, reading)
    }
    assert.equal((await signingOut.get('/me')).status, 200)

    limit('unlimited:unlimited')
    await assertStatuses(isSuccess, open, reading, writing)
    assert.equal((await signingOut.get('/me')).status, 401)
    assert.equal((await ada.get('/me')).status, 200)
    const database = new Database(join(folder, 'site.sqlite'))
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
    database.close()
  })
})
