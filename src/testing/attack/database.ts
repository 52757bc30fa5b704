// Simulates crashes, a locked database, a full disk and races. Takes minutes. Run it with `npm run attack` on an idle machine.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { killRepeatedly } from '../faults/killed.ts'
import { measure, measuring } from '../faults/measured-server.ts'
import { assertStatuses, isSuccess, isUnavailable, userRequests } from '../faults/user-requests.ts'
import { registration, signIn, signUp } from '../people.ts'
import { runServer, startServer, temporaryFolder } from '../server-process.ts'

describe('the database under attack', () => {
  test('N5: loses no acknowledged write when the server is killed twenty times', async (t) => {
    const acknowledged = await killRepeatedly(t, await temporaryFolder(t), 20)
    t.diagnostic(`${acknowledged} acknowledged`)
  })

  test('N12: a start completes the migrations after earlier starts were killed, each before a different statement', async (t) => {
    const folder = await temporaryFolder(t)
    const options = [
      '--conditions=@koa-authenticators/source',
      `--import=${import.meta.resolve('../faults/die-at.ts')}`,
    ]
    let statement = 1
    for (; ; statement += 1) {
      const variables = { DATA_DIR: folder, DIE_AT: String(statement) }
      const { child, ended } = runServer(t, variables, { options })
      const isUp = new Promise((resolve) => child.stdout.once('data', () => resolve(true)))
      if (await Promise.race([isUp, ended.then(() => false)])) break
      assert.equal(child.signalCode, 'SIGKILL')
      if (statement % 2 === 0) for (const name of readdirSync(folder)) await rm(join(folder, name))
    }
    t.diagnostic(`${statement - 1} statements`)
    const server = await startServer(t, { DATA_DIR: folder })
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)
  })

  test('N2, N3: keeps the event loop responsive while a hundred clients write to a locked database for ten seconds', async (t) => {
    const folder = await temporaryFolder(t)
    const server = await startServer(t, { DATA_DIR: folder, THROTTLE: 'off', ...measuring })
    const { ada, open: publicRequests, reading, writing } = await userRequests(server)
    const other = new Database(join(folder, 'site.sqlite'))
    await measure(server)
    other.exec('begin exclusive')
    const end = performance.now() + 10_000
    const slowest = { read: 0, write: 0 }
    const clients = Array.from({ length: 100 }, async () => {
      while (performance.now() < end) {
        const start = performance.now()
        const { status } = await server
          .visitor()
          .json('/users', registration(`P${crypto.randomUUID().slice(0, 8)}`))
        assert.equal(status, 503)
        slowest.write = Math.max(slowest.write, performance.now() - start)
      }
    })
    const reader = async () => {
      while (performance.now() < end) {
        const start = performance.now()
        await assertStatuses(isSuccess, publicRequests, { me: () => ada.get('/me') })
        slowest.read = Math.max(slowest.read, performance.now() - start)
      }
    }
    await Promise.all([...clients, reader()])
    const { max, p99 } = await measure(server)
    t.diagnostic(
      `delay: p99 ${p99} ms, at most ${max} ms; read ${slowest.read} ms, write ${slowest.write} ms`,
    )
    assert.ok(slowest.write < 3000)
    assert.ok(max < 100)
    other.exec('rollback')
    other.close()
    const start = performance.now()
    await assertStatuses(isSuccess, publicRequests, reading, writing)
    assert.ok(performance.now() - start < 5000)
  })

  test('N4: recovers after the disk was full', {
    skip: process.getuid?.() !== 0 && 'needs root to mount a small file system',
  }, async (t) => {
    const folder = await temporaryFolder(t)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder])
    try {
      const server = await startServer(t, { DATA_DIR: folder, THROTTLE: 'off' })
      const { signingOut, open: publicRequests, reading, writing } = await userRequests(server)
      const filler = join(folder, 'filler')
      await assert.rejects(writeFile(filler, Buffer.alloc(4_000_000)), { code: 'ENOSPC' })
      let signedUp = 0
      while ((await server.visitor().json('/users', registration(`P${signedUp}`))).status === 201)
        signedUp += 1
      for (let round = 0; round < 20; round += 1) {
        await assertStatuses((status) => isSuccess(status) || isUnavailable(status), writing)
        await assertStatuses(isSuccess, publicRequests, reading)
      }
      await rm(filler)
      await assertStatuses(isSuccess, publicRequests, reading, writing)
      assert.equal((await signingOut.get('/me')).status, 401)
      const database = new Database(join(folder, 'site.sqlite'))
      assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
      database.close()
      t.diagnostic(`${signedUp} signed up before it was full`)
      server.child.kill('SIGTERM')
      assert.equal((await server.ended).code, 0)
    } finally {
      execFileSync('umount', ['--lazy', folder])
    }
  })

  test('E6: five hundred sessions that end during a request stay ended', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' })
    const ada = await signUp(server)
    // The form writes a notice to the session.
    for (let rounds = 0; rounds < 50; rounds += 1) {
      const ten = Array.from({ length: 10 }, async () => {
        const here = await signIn(server, ada)
        const { session } = here
        const running = server.visitor(session).form('/account/name', { name: 'Ada King' })
        const [{ status }] = await Promise.all([here.post('/logout'), running])
        assert.equal(status, 204)
        assert.equal((await server.visitor(session).get('/me')).status, 401)
      })
      await Promise.all(ten)
    }
  })
})
