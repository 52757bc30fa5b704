// Measures a locked database and races. Takes minutes. Run it with `npm run attack` on an idle machine.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3'
import { measure, measuring } from '../faults/measured-server.ts'
import { assertStatuses, isSuccess, userRequests } from '../faults/user-requests.ts'
import { registration, signIn, signUp } from '../people.ts'
import { startServer, temporaryFolder } from '../server-process.ts'

describe('the database under attack', () => {
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
