import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertStatuses, isSuccess, isUnavailable, userRequests } from '../../testing/faults/user-requests.ts'
import { basic } from '../../testing/people.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

describe('a moved or deleted SQLite file', () => {
  test('N2 N13 makes GET /readyz and every write fail with 503 until the file is back', async (t) => {
    const folder = await temporaryFolder(t)
    const [path, elsewhere] = [join(folder, 'site.sqlite'), join(folder, 'elsewhere')]
    const server = await startServer(t, { DATA_DIR: folder })
    const { ada, open, reading, writing } = await userRequests(server)
    const { 'GET /readyz': ready = assert.fail, 'GET / by session': home = assert.fail, ...guarded } = reading
    const assertLost = async () => {
      assert.equal((await ready()).status, 503)
      await assertStatuses(isUnavailable, writing, guarded)
      await assertStatuses(isSuccess, open)
      assert.match((await home()).text, /We cannot tell who is signed in/)
    }

    await rename(path, elsewhere)
    await assertLost()
    await rename(elsewhere, path)
    assert.equal((await ready()).status, 200)
    await assertStatuses(isSuccess, open, reading)

    // A backup is restored while the server runs.
    await rename(path, elsewhere)
    await copyFile(elsewhere, path)
    await assertLost()
    await rename(elsewhere, path)
    await assertStatuses(isSuccess, { ready }, { me: () => ada.get('/me') })

    // The write-ahead log is deleted.
    await rm(`${path}-wal`)
    await assertLost()

    const errors = server.log.filter(({ level }) => Number(level) >= 50)
    assert.match(JSON.stringify(errors), /SQLITE_READONLY_DBMOVED/)
  })

  test('N13 is detected behind a symbolic link', async (t) => {
    const folder = await temporaryFolder(t)
    const target = join(folder, 'disk', 'site.sqlite')
    await mkdir(join(folder, 'disk'), { mode: 0o700 })
    await symlink(target, join(folder, 'site.sqlite'))
    const server = await startServer(t, { DATA_DIR: folder })
    const { open, reading, writing } = await userRequests(server)
    const { 'GET /readyz': ready = assert.fail } = reading
    await assertStatuses(isSuccess, open, reading, writing)
    await rm(`${target}-wal`)
    assert.equal((await ready()).status, 503)
    await assertStatuses(isUnavailable, writing)
  })

  test('N13 is detected, even if it is only the index of the write-ahead log, and later commits of other processes survive', async (t) => {
    const folder = await temporaryFolder(t)
    const variables = { DATA_DIR: folder, BCRYPT_COST: '4' }
    const server = await startServer(t, variables)
    const { person, ada, open, reading, writing } = await userRequests(server)
    const { 'GET /readyz': ready = assert.fail, 'GET / by session': home, ...guarded } = reading
    await rm(join(folder, 'site.sqlite-shm'))
    const disabled = spawnSync(process.execPath, ['src/start.js', 'commands/user', 'disable', person.email], {
      cwd: join(import.meta.dirname, '../../..'),
      env: { PATH: process.env.PATH, ...variables },
    })
    assert.equal(disabled.status, 0, String(disabled.stderr))
    assert.equal((await ready()).status, 503)
    await assertStatuses(isUnavailable, writing, guarded)
    await assertStatuses(isSuccess, open)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)

    const again = await startServer(t, variables)
    assert.equal((await again.visitor().get('/readyz')).status, 200)
    assert.equal((await again.visitor(ada.session).get('/me')).status, 401)
    assert.equal((await again.visitor().post('/login', basic(person))).status, 401)
  })
})
