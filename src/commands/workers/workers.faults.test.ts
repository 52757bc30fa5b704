import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { Ledger } from '../../testing/faults/ledger.ts'
import { until } from '../../testing/faults/until.ts'
import { password, registration } from '../../testing/people.ts'
import { ReconnectingVisitor } from '../../testing/reconnecting-visitor.ts'
import { startServer, temporaryFolder } from '../../testing/server-process.ts'

async function startWorkers(t: TestContext, variables: Record<string, string> = {}) {
  const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), THROTTLE: 'off', ...variables })
  const lines = (message: string) => server.log.filter(({ msg }) => msg === message)
  const workers = () => lines('a worker listens').map(({ worker }) => Number(worker))
  return { ...server, lines, workers }
}

/** A client that sends consecutive requests until it is stopped or a request fails. */
class Client {
  readonly #url: string
  readonly #agent: Agent
  answered = 0
  isDone = false

  constructor(url: string, keepAlive: boolean) {
    this.#url = url
    this.#agent = new Agent({ keepAlive, maxSockets: 1 })
  }

  async keepBusy(): Promise<void> {
    const login = JSON.stringify({ username: 'ada@example.com', password })
    while (!this.isDone) {
      for (const path of ['/', '/healthz', '/readyz']) await this.#send('GET', path)
      await this.#send('POST', '/login', login)
    }
    this.#agent.destroy()
  }

  async #send(method: string, path: string, body = ''): Promise<void> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(this.#url + path, { method, headers, agent: this.#agent })
    outgoing.end(body)
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    // Throws if the response is incomplete.
    for await (const _part of incoming);
    assert.equal(incoming.statusCode, 200, `${method} ${path}`)
    this.answered += 1
  }
}

describe('workers', { concurrency: 2 }, () => {
  test('are replaced on SIGHUP without a failed request on new or open connections', async (t) => {
    const server = await startWorkers(t, { WORKERS: '2', DRAIN_SECONDS: '600' })
    await server.visitor().json('/users', registration('Ada'))
    const clients = [true, true, false, false].map((keep) => new Client(server.url, keep))
    const busy = Promise.all(clients.map((client) => client.keepBusy()))
    const answered = () => clients.reduce((sum, client) => sum + client.answered, 0)
    const more = async () => {
      const before = answered()
      await Promise.race([busy, until('requests are served', () => answered() > before + 50)])
    }
    await more()
    // A slow request: a part of its body is sent before the restart, and the rest during it.
    const body = JSON.stringify(registration('Grace'))
    const length = { 'content-type': 'application/json', 'content-length': body.length }
    const slow = server.visitor().open('POST', '/users', { ...length, expect: '100-continue' })
    await slow.begun
    slow.write(body.slice(0, 9))

    server.child.kill('SIGHUP')
    const old = server.workers()
    await server.says('stopping')
    // Another signal replaces all workers again.
    server.child.kill('SIGHUP')
    assert.equal((await slow.end(body.slice(9))).status, 201)
    await Promise.race([busy, until('both restarts are done', () => server.lines('restarted').length === 2)])
    await more()
    for (const client of clients) client.isDone = true
    await busy

    const stopped = server.lines('stopped').map(({ pid }) => Number(pid))
    for (const pid of old) assert.ok(stopped.includes(pid), 'every old worker has stopped')
    assert.equal(server.workers().length - stopped.length, 2)
    const complaints = server.log.filter(({ level }) => Number(level) >= 40)
    assert.deepEqual(complaints, [])
    assert.equal(server.child.exitCode, null)
  })

  test('keep running after SIGHUP if new workers cannot start, and are replaced at the next SIGHUP after the repair', async (t) => {
    const folder = await temporaryFolder(t)
    const program = `import cluster from 'node:cluster'; import { existsSync } from 'node:fs'
      if (cluster.isWorker && existsSync('${folder}/broken')) process.exit(3)`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`
    const server = await startWorkers(t, { WORKERS: '2', NODE_OPTIONS })
    await writeFile(`${folder}/broken`, '')
    server.child.kill('SIGHUP')
    await server.says('restart cancelled: a new worker could not start, so the old workers stay')
    assert.deepEqual([server.workers().length, server.lines('stopped').length], [2, 0])
    assert.equal((await server.visitor().get('/readyz')).status, 200)
    await rm(`${folder}/broken`)
    server.child.kill('SIGHUP')
    await server.says('restarted')
    assert.deepEqual([server.workers().length, server.lines('stopped').length], [4, 2])
  })

  test('N5 are replaced when they are killed, lose no acknowledged change, and leave no request open', {
    timeout: 120_000,
  }, async (t) => {
    const folder = await temporaryFolder(t)
    const server = await startWorkers(t, { DATA_DIR: folder, WORKERS: '3' })
    const secrets = new Set<string>()
    const reconnecting = {
      visitor: (session?: string) => new ReconnectingVisitor({ url: server.url, secrets }, session),
    }
    const ledger = new Ledger()
    let isDone = false
    // `ledger.keepBusy` returns when a connection breaks.
    const keepBusy = async (site: typeof reconnecting) => {
      while (!isDone) await ledger.keepBusy(site)
    }
    const busy = Promise.all([server, server, reconnecting, reconnecting, reconnecting].map(keepBusy))
    const killed = new Set<number>()
    while (killed.size < 5) {
      await Promise.race([ledger.more(20 + Math.floor(randomInt(40))), busy])
      const alive = server.workers().filter((pid) => !killed.has(pid))
      const pid = alive[killed.size % alive.length] ?? assert.fail('no worker is alive')
      process.kill(pid, 'SIGKILL')
      killed.add(pid)
      await until('a new worker listens', () => server.workers().length === 3 + killed.size)
    }
    isDone = true
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    let isAnswered = false
    busy.then(() => (isAnswered = true))
    await until('no request is open', () => isAnswered)
    assert.equal(server.lines('a worker has ended').length, killed.size)
    await ledger.verify(await startWorkers(t, { DATA_DIR: folder }))
    t.diagnostic(`${ledger.acknowledged} acknowledged`)
  })
})
