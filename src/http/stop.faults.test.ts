import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closing, open, openMany } from '../testing/faults/sockets.ts'
import { password, registration } from '../testing/people.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'

/** A client that sends consecutive requests on one connection. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  readonly statuses: number[] = []

  constructor(url: string) {
    this.#url = url
  }

  /** Sends requests until a response has `Connection: close`. */
  async keepBusy(): Promise<void> {
    const login = JSON.stringify({ username: 'ada@example.com', password })
    for (let isDone = false; !isDone; ) {
      isDone = (await this.#send('GET', '/')) || (await this.#send('POST', '/login', login))
    }
  }

  async #send(method: string, path: string, body = ''): Promise<boolean> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(this.#url + path, { method, headers, agent: this.#agent })
    outgoing.end(body)
    const [incoming]: [IncomingMessage] = (await once(outgoing, 'response')) as [IncomingMessage]
    // Throws if the response is incomplete.
    for await (const _part of incoming);
    assert.ok(incoming.complete)
    this.statuses.push(incoming.statusCode ?? 0)
    return incoming.headers.connection === 'close'
  }
}

describe('SIGTERM under load', { concurrency: true }, () => {
  test('N6 lets the server complete every response, and exit with 0, with and without a drain', async (t) => {
    for (const drain of ['0', '1']) {
      const variables = { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: drain }
      const server = await startServer(t, variables, { isPatient: true })
      await server.visitor().json('/users', registration('Ada'))
      const clients = Array.from({ length: 12 }, () => new Client(server.url))
      const busy = Promise.all(clients.map((client) => client.keepBusy()))
      for (let answered = 0; answered < 100; ) {
        await server.visitor().get('/healthz')
        answered = clients.reduce((sum, { statuses }) => sum + statuses.length, 0)
      }

      server.child.kill('SIGTERM')
      await busy
      const { code, stderr } = await server.ended
      assert.deepEqual([code, stderr], [0, ''])
      assert.equal(server.log.at(-1)?.msg, 'stopped')
      for (const { statuses } of clients) assert.deepEqual([...new Set(statuses)], [200], statuses.join())
    }
  })

  test('N6 does not wait for a silent connection, as browsers open in advance', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t) })
    await openMany(server.url, 1)
    // The server accepts connections in order.
    await server.visitor().get('/healthz', { connection: 'close' })
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
  })

  test('P5 lets the server respond on all connections that it has accepted, even if their requests come after the listener has closed', async (t) => {
    const variables = { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: '1' }
    const server = await startServer(t, variables, { isPatient: true })
    const early = await openMany(server.url, 20)
    // The server accepts connections in order.
    assert.equal((await server.visitor().get('/healthz', { connection: 'close' })).status, 200)
    server.child.kill('SIGTERM')
    const late: Socket[] = []
    for (let socket = await connected(server.url); socket; socket = await connected(server.url)) {
      late.push(socket)
      await sleep(10)
    }
    for (const answer of await Promise.all(early.map(ask))) assert.match(answer, /^HTTP\/1\.1 200 .*ok$/s)
    const answers = await Promise.all(late.map(ask))
    // The kernel establishes connections just before the listener closes, which the server never accepts.
    const accepted = answers.slice(0, answers.findLastIndex((answer) => answer !== '') + 1)
    for (const answer of accepted) assert.match(answer, /^HTTP\/1\.1 200 .*ok$/s)
    t.diagnostic(`${accepted.length} of ${late.length} accepted during the drain`)
    assert.equal((await server.ended).code, 0)
  })
})

/** A new connection, or `undefined` if it is refused. */
async function connected(url: string): Promise<Socket | undefined> {
  const socket = open(url)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket)).once('close', () => resolve(undefined))
  })
}

/** The response to a request. */
async function ask(socket: Socket): Promise<string> {
  let answer = ''
  socket.setEncoding('latin1').on('data', (data) => {
    answer += data
  })
  const closed = closing(socket)
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await closed
  return answer
}
