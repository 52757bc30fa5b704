import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onlyWith } from '../testing/debian-programs.ts'
import { patient } from '../testing/faults/patient-site.ts'
import { until } from '../testing/faults/until.ts'
import { freePort } from '../testing/free-port.ts'
import { startHAProxy } from '../testing/haproxy.ts'
import { basic, bearer, signIn, signUp, takeToken } from '../testing/people.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { Visitor } from '../testing/visitor.ts'

const enough = 10_000

describe('a rolling restart of two processes behind HAProxy', onlyWith('haproxy'), () => {
  // Several times as long as it takes on an idle machine.
  test('loses none of 10,000 requests', { timeout: 3_600_000 }, async (t) => {
    const variables = {
      DATA_DIR: await temporaryFolder(t),
      TRUST_PROXY: '127.0.0.1',
      // HAProxy must notice the drain, also on a busy machine.
      DRAIN_SECONDS: '15',
      THROTTLE: 'off',
    }
    const ports = [await freePort(), await freePort()]
    const start = (port: number) => startServer(t, { ...variables, PORT: String(port) })
    const servers = [await start(ports[0] ?? 0), await start(ports[1] ?? 0)]
    const proxy = await startHAProxy(
      t,
      'haproxy.cfg',
      ports.map((port) => ({ port })),
    )
    const secrets = new Set<string>()
    // A 503 of the site met a time limit on a busy machine. A lost request has no response of the site.
    const site = patient({ visitor: (session) => new Visitor({ url: proxy.url, secrets }, session) })
    await until('HAProxy uses both', () => proxy.isUp(1))

    let [sent, rounds] = [0, 0]
    const lost: unknown[] = []
    const isOver = () => sent >= enough && rounds >= 1
    // Each request has a connection of its own, so that none meets a connection that is being closed for idleness.
    const connection = 'close'
    const client = async (number: number) => {
      const person = await signUp(site, `Client${number}`)
      const [visitor, token] = [await signIn(site, person), await takeToken(site, person)]
      const requests = [
        () => site.visitor().page('/login', { connection }),
        () => visitor.page('/account', { connection }),
        () => site.visitor().get('/me', { ...bearer(token), connection }),
        () => visitor.form('/account/name', { name: `Client ${sent}` }, { connection }),
        () => site.visitor().post('/login', { ...basic(person), connection }),
      ]
      for (let i = 0; !isOver(); i += 1) {
        sent += 1
        const send = requests[i % requests.length] ?? assert.fail()
        const status = await send().then(
          (answer) => answer.status,
          (error) => error.code,
        )
        if (!(status < 400)) lost.push(status)
      }
    }
    const restart = async (index: number) => {
      const old = servers[index] ?? assert.fail()
      old.child.kill('SIGTERM')
      const { code, stderr } = await old.ended
      assert.deepEqual([code, stderr], [0, ''])
      servers[index] = await start(ports[index] ?? 0)
      await until('HAProxy uses the new process', () => proxy.isUp(index))
    }
    const clients = Promise.all(Array.from({ length: 20 }, (_, number) => client(number)))
    clients.catch(() => {})
    await Promise.race([clients, until('the load has begun', () => sent >= 100)])
    for (; rounds === 0 || sent < enough; rounds += 1)
      for (const index of servers.keys()) await restart(index)
    await clients
    t.diagnostic(`${sent} requests, ${2 * rounds} restarts, ${lost.length} lost`)
    assert.deepEqual(lost, [])
  })
})
