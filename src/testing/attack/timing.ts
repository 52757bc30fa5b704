// Measures timing: `npm run attack` on an idle machine.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, type TestContext, test } from 'node:test'
import { password, registration, signUp } from '../people.ts'
import { startServer, temporaryFolder } from '../server-process.ts'

/** The probability that a value of the first group is greater than one of the second. 0.5 means indistinguishable. */
function areaUnderCurve(first: readonly number[], second: readonly number[]): number {
  const wins = first.flatMap((one) => second.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)))
  return wins.reduce<number>((sum, each) => sum + each, 0) / wins.length
}

/** Asserts that the durations for two names do not differ, in three runs of 300 pairs in random order. */
async function compare(
  t: TestContext,
  [first, second]: readonly [string, string],
  duration: (name: string) => Promise<number>,
): Promise<void> {
  for (let i = 0; i < 30; i += 1) await duration(i % 2 ? first : second)
  for (let run = 0; run < 3; run += 1) {
    const times = new Map<string, number[]>([
      [first, []],
      [second, []],
    ])
    for (let i = 0; i < 300; i += 1) {
      const isFirst = randomInt(2) === 0
      for (const name of isFirst ? [first, second] : [second, first])
        times.get(name)?.push(await duration(name))
    }
    const area = areaUnderCurve(times.get(first) ?? [], times.get(second) ?? [])
    t.diagnostic(`run ${run + 1}: ${area.toFixed(3)}`)
    assert.ok(area > 0.4 && area < 0.6, `${area}`)
  }
}

describe('response times', () => {
  test('C3: the time of `POST /login` does not reveal whether an account exists, in three runs of 300 pairs', async (t) => {
    const server = await startServer(t, {
      DATA_DIR: await temporaryFolder(t),
      THROTTLE: 'off',
      BCRYPT_COST: '8',
    })
    const { email } = await signUp(server)
    const duration = async (username: string) => {
      const start = performance.now()
      const { status } = await server.visitor().json('/login', { username, password: 'a wrong guess' })
      assert.equal(status, 401)
      return performance.now() - start
    }
    await compare(t, [email, 'eve@example.com'], duration)
  })

  for (const isNext of [false, true])
    test(`Q1: the time of ${isNext ? 'the request after ' : ''}\`POST /forgot\` does not reveal whether an account exists`, async (t) => {
      const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' })
      const { email } = await signUp(server)
      await compare(t, [email, 'eve@example.com'], async (email) => {
        const visitor = server.visitor()
        const start = performance.now()
        assert.equal((await visitor.json('/forgot', { email })).status, 202)
        const next = performance.now()
        assert.equal((await visitor.page('/login')).status, 200)
        return isNext ? performance.now() - next : next - start
      })
    })

  test('B6, D11: pages stay fast during 200 log-ins with a password of a megabyte, and 200 with a wrong password', async (t) => {
    const server = await startServer(t, {
      DATA_DIR: await temporaryFolder(t),
      THROTTLE: 'off',
      BCRYPT_COST: '10',
    })
    const { email } = await signUp(server)
    const p99 = async (isDone: () => boolean) => {
      const durations: number[] = []
      while (!isDone() || durations.length < 200) {
        const start = performance.now()
        assert.equal((await server.visitor().page('/login')).status, 200)
        durations.push(performance.now() - start)
      }
      return durations.sort((one, other) => one - other)[Math.floor(durations.length * 0.99)] ?? 0
    }
    const idle = await p99(() => true)
    for (const [name, secret] of [
      ['a megabyte', 'x'.repeat(1_000_000)],
      ['wrong guesses', 'a wrong guess'],
    ] as const) {
      let isDone = false
      const flood = Array.from({ length: 200 }, () =>
        server.visitor().json('/login', { username: email, password: secret }),
      )
      const all = Promise.all(flood).then((answers) => {
        isDone = true
        return answers.map(({ status }) => status)
      })
      const busy = await p99(() => isDone)
      t.diagnostic(`${name}: p99 of a page ${idle.toFixed(1)} ms idle, ${busy.toFixed(1)} ms under load`)
      for (const status of await all) assert.ok([401, 413, 503].includes(status))
      assert.ok(busy < idle + 100)
    }
  })

  test('N8: the event loop stays responsive during 200 sign-ups and log-ins, each with five pages', async (t) => {
    const { startSite } = await import('../site.ts')
    const site = await startSite(t, { BCRYPT_COST: '10', THROTTLE: 'off' })
    const delays = monitorEventLoopDelay({ resolution: 1 })
    delays.enable()
    for (let i = 0; i < 200; i += 1) {
      const name = `Ada${i}`
      await site.visitor().json('/users', registration(name))
      const visitor = site.visitor()
      await visitor.form('/login', { username: `ada${i}@example.com`, password })
      for (const path of ['/', '/account', '/account/sessions', '/account/tokens', '/me'])
        await visitor.page(path)
    }
    delays.disable()
    const [p99, most] = [delays.percentile(99) / 1e6, delays.max / 1e6]
    t.diagnostic(
      `p99 ${p99.toFixed(1)} ms, at most ${most.toFixed(1)} ms, of a client and a server in one process`,
    )
    assert.ok(p99 < 20)
  })
})
