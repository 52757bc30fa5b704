import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { type defaultLimits, httpServer } from './http-server.ts'

const host = 'Host: localhost\r\n'
const short = { headersTimeout: 100, requestTimeout: 200, keepAliveTimeout: 50, linger: 100 }

/**
 * Starts a server, and returns a connection to it. A response has a megabyte, or 50 MB for `/long`. The server does not read the body of a PUT request.
 */
async function open(
  t: TestContext,
  { allowHalfOpen = false, ...limits }: Partial<typeof defaultLimits> & { allowHalfOpen?: boolean } = short,
): Promise<Socket> {
  const app = new Koa()
  app.silent = true
  app.use(async (ctx) => {
    if (ctx.method === 'PUT') ctx.throw(413)
    await text(ctx.req)
    ctx.body = 'x'.repeat(ctx.path === '/long' ? 50_000_000 : 1_000_000)
  })
  const { server } = httpServer(app, { limits: { connectionsCheckingInterval: 20, ...limits } })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  socket.on('error', () => {})
  await once(socket, 'connect')
  t.after(() => socket.destroy())
  return socket
}

/** Sends bytes at intervals until the connection is closed. Returns the response. */
async function sendSlowly(socket: Socket, begin: string, byte: string): Promise<string> {
  socket.setEncoding('latin1').write(begin)
  const sending = setInterval(() => socket.writable && socket.write(byte), 20)
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  // The connection may be reset after the response.
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(sending)
  return answer
}

describe('a slow client', { concurrency: true }, () => {
  test('I6 has ten seconds for a header, thirty for a request, and five until the next request', () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections } = httpServer(
      new Koa(),
    ).server
    assert.deepEqual([headersTimeout, requestTimeout, keepAliveTimeout], [10_000, 30_000, 5_000])
    assert.deepEqual([timeout, maxConnections], [30_000, 10_000])
  })

  test('I6 L3 is disconnected in the middle of a header, with a 408 and X-Content-Type-Options', async (t) => {
    const answer = await sendSlowly(await open(t), `GET / HTTP/1.1\r\n${host}X-Slow: `, 'a')
    assert.match(answer, /^HTTP\/1\.1 408 .*\r\nX-Content-Type-Options: nosniff\r\n.*"status":408/s)
  })

  test('I6 is disconnected in the middle of a body', async (t) => {
    const begin = `POST / HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\n`
    assert.match(await sendSlowly(await open(t), begin, 'a'), /^HTTP\/1\.1 408 /)
  })

  test('K10 is disconnected if it continues to send a rejected body, but has time to read the response first', async (t) => {
    const socket = await open(t, {})
    const begin = `PUT / HTTP/1.1\r\n${host}Content-Length: 1000000000\r\n\r\n`
    assert.match(await sendSlowly(socket, begin, 'a'.repeat(10_000)), /^HTTP\/1\.1 413 .*Payload Too Large$/s)
  })

  test('I6 is disconnected if it sends requests and never reads the responses', async (t) => {
    const socket = await open(t, { timeout: 300 })
    socket.pause()
    socket.write(`GET /long HTTP/1.1\r\n${host}\r\n`.repeat(10))
    // Without reading, only a write detects the end of the connection.
    const writing = setInterval(() => socket.write('GET'), 20)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(writing)
    assert.ok(socket.bytesRead < 50_000_000)
  })
})
