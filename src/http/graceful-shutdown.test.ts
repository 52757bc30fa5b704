import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** A server that responds once `gate` is resolved. By default, the times of a shutdown are longer than any test. */
async function start(t: TestContext, { gracePeriod = 600_000, longestRequest = 600_000 } = {}) {
  const gate = Promise.withResolvers<void>()
  const app = new Koa()
  app.use(async (ctx) => {
    await gate.promise
    ctx.body = 'ok'
  })
  const { server, stop } = httpServer(app, { limits: { gracePeriod, longestRequest } })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(server, 'connection')
    return socket
  }
  const closeListener = async () => {
    const stopped = stop(0)
    while (server.listening) await new Promise(setImmediate)
    return { stopped }
  }
  return { server, open, closeListener, gate }
}

async function sendRequest(socket: Socket): Promise<string> {
  socket.write(request)
  return String((await once(socket, 'data'))[0])
}

describe('shutDown', () => {
  test('P5 responds on a connection that was accepted before the listener closed', async (t) => {
    const { open, closeListener, gate } = await start(t)
    gate.resolve()
    const socket = await open()
    const { stopped } = await closeListener()
    socket.write(request)
    assert.match(await text(socket), /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*ok$/s)
    await stopped
  })

  test('N6 sends `Connection: close` in the responses to a running request and to the first request of a connection', async (t) => {
    const { server, open, closeListener, gate } = await start(t)
    const [unused, busy] = [await open(), await open()]
    busy.write(request)
    await once(server, 'request')
    const { stopped } = await closeListener()
    gate.resolve()
    assert.match(await sendRequest(unused), /\r\nConnection: close\r\n/)
    assert.match(await text(busy), /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*ok$/s)
    await stopped
  })

  test('N6 closes connections that are idle after a response, and connections that never send a request', async (t) => {
    const { open, closeListener, gate } = await start(t, { gracePeriod: 10 })
    gate.resolve()
    const [idle, silent] = [await open(), await open()]
    assert.match(await sendRequest(idle), /\r\nConnection: keep-alive\r\n/)
    const closed = [once(idle, 'close'), once(silent.resume(), 'close')]
    const { stopped } = await closeListener()
    await Promise.all([...closed, stopped])
  })

  test('N6 closes connections whose request is still running after the time for running requests', async (t) => {
    const { server, open, closeListener } = await start(t, { gracePeriod: 10, longestRequest: 10 })
    const stuck = await open()
    stuck.write(request)
    await once(server, 'request')
    const closed = once(stuck.resume(), 'close')
    const { stopped } = await closeListener()
    await Promise.all([closed, stopped])
  })
})
