import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

/** Starts a server that accepts ten connections, and three of each address. With `isProxy`, each client is a trusted proxy. */
async function start(t: TestContext, isProxy = false) {
  const app = new Koa()
  app.silent = true
  app.use((ctx) => {
    ctx.body = 'ok'
  })
  const { server } = httpServer(app, {
    limits: { maxConnectionsOfAddress: 3, maxConnections: 10 },
    isProxy: () => isProxy,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
    await once(server, 'connection')
    return socket
  }
}

async function isAnswered(socket: Socket): Promise<boolean> {
  socket.write('x\r\nConnection: close\r\n\r\n')
  return /^HTTP\/1\.1 200 /.test(await text(socket).catch(() => ''))
}

describe('limitConnectionsOfAddress', () => {
  test('P7 closes the connections of an address above its limit, and accepts new ones when others have closed', async (t) => {
    const open = await start(t)
    const sockets = [await open(), await open(), await open(), await open(), await open()]
    const answered = await Promise.all(sockets.map(isAnswered))
    assert.deepEqual(answered, [true, true, true, false, false])
    assert.ok(await isAnswered(await open()))
  })

  test('P7 serves other addresses while one address opens connections', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has all addresses of 127.0.0.0/8.')
    const open = await start(t)
    const before = await open('127.0.0.2')
    for (let i = 0; i < 20; i += 1) await open()
    assert.ok(await isAnswered(before))
    assert.ok(await isAnswered(await open('127.0.0.3')))
  })

  test('P7 limits the addresses of a block together', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has all addresses of 127.0.0.0/8.')
    const open = await start(t)
    const sockets: Socket[] = []
    for (let i = 0; i < 9; i += 1) sockets.push(await open(`127.0.0.${2 + (i % 3)}`))
    const other = await open('127.0.1.1')
    assert.ok(await isAnswered(other))
    const answered = await Promise.all(sockets.map(isAnswered))
    assert.equal(answered.filter(Boolean).length, 6)
  })

  test('P7 does not limit a trusted proxy', async (t) => {
    const open = await start(t, true)
    const sockets = [await open(), await open(), await open(), await open()]
    assert.deepEqual(await Promise.all(sockets.map(isAnswered)), [true, true, true, true])
  })
})
