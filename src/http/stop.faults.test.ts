import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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
      const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: drain })
      await server.visitor().json('/users', registration('Ada'))
      const clients = Array.from({ length: 12 }, () => new Client(server.url))
      const busy = Promise.all(clients.map((client) => client.keepBusy()))
      const { port } = new URL(server.url)
      // A silent connection, as browsers open in advance.
      const silent = connect(Number(port), '127.0.0.1')
      await once(silent, 'connect')
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

  test('P5 lets the server respond on connections that were accepted just before the drain ends', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: '1' })
    server.child.kill('SIGTERM')
    await server.says('stopping')
    const responses: Promise<string>[] = []
    let isAccepted = true
    while (isAccepted) {
      const { port } = new URL(server.url)
      const socket = connect(Number(port), '127.0.0.1')
      isAccepted = await connected(socket)
      if (isAccepted) responses.push(requestAfter(socket, 20 + (responses.length % 131)))
      await sleep(5)
    }
    const answers = await Promise.all(responses)
    assert.ok(answers.length > 0)
    // The kernel can establish a connection that the server no longer accepts.
    const accepted = answers.slice(0, answers.findLastIndex((answer) => answer !== '') + 1)
    assert.ok(accepted.length >= answers.length - 2, `${accepted.length} of ${answers.length}`)
    for (const answer of accepted) assert.match(answer, /^HTTP\/1\.1 200 .*close.*ok$/s)
    assert.equal((await server.ended).code, 0)
  })
})

function connected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
  })
}

/** Sends a request after a delay in milliseconds, and returns the response. */
async function requestAfter(socket: Socket, milliseconds: number): Promise<string> {
  let answer = ''
  socket.setEncoding('latin1').on('data', (data) => {
    answer += data
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await sleep(milliseconds)
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await closed
  return answer
}
