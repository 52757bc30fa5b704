import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

const halfSent = 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '
const halfBody = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\na'
const rest = 'x\r\nConnection: close\r\n\r\n'

/**
 * Starts a server with limits of ten connections, and three idle connections for each network. With `isProxy`, each client is a
 * trusted proxy, and the limits are 100 and one.
 */
async function start(t: TestContext, isProxy = false) {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const app = new Koa()
  app.silent = true
  app.use(async (ctx) => {
    await text(ctx.req)
    begun.resolve()
    if (ctx.path === '/slow') await gate.promise
    ctx.body = 'ok'
  })
  const { server } = httpServer(app, {
    limits: { maxIdle: isProxy ? 1 : 3, maxConnections: isProxy ? 100 : 10 },
    isProxy: () => isProxy,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = async (bytes: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    const done = new AbortController()
    const accepted = Promise.race(['connection', 'drop'].map((event) => once(server, event, done)))
    socket.write(bytes)
    await accepted
    done.abort()
    return socket
  }
  return { open, gate, begun }
}

async function isAnswered(socket: Socket, bytes = rest): Promise<boolean> {
  socket.write(bytes)
  return /^HTTP\/1\.1 200 /.test(await text(socket).catch(() => ''))
}

describe('IdleConnections', () => {
  test('P7 closes the oldest idle connections of a network, and serves its newest ones', async (t) => {
    for (const [bytes, end] of [
      [halfSent, rest],
      [halfBody, 'b'],
      ['', halfSent + rest],
    ] as const) {
      const { open } = await start(t)
      const sockets: Socket[] = []
      for (let i = 0; i < 6; i += 1) sockets.push(await open(bytes))
      const answered = await Promise.all(sockets.map((socket) => isAnswered(socket, end)))
      assert.deepEqual(answered, [false, false, false, true, true, true], bytes)
    }
  })

  test('P7 keeps connections of other networks, and accepts new ones', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has all addresses of 127.0.0.0/8.')
    const { open } = await start(t)
    const before = await open(halfSent, '127.0.0.2')
    for (let i = 0; i < 20; i += 1) await open(halfSent)
    const after = await open(halfSent, '127.0.0.3')
    assert.ok(await isAnswered(before))
    assert.ok(await isAnswered(after))
  })

  test('P7 keeps the connections of a trusted proxy', async (t) => {
    const { open } = await start(t, true)
    const visitor = await open(halfSent)
    for (let i = 0; i < 10; i += 1) await open(halfSent)
    assert.ok(await isAnswered(visitor))
  })

  test('P7 keeps a connection with a running request', async (t) => {
    const { open, gate, begun } = await start(t)
    const visitor = await open(`GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await begun.promise
    for (let i = 0; i < 10; i += 1) await open(halfSent)
    gate.resolve()
    const [answer] = await once(visitor, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
  })
})
