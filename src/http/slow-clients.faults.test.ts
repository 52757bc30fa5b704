import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Koa from 'koa'
import { type defaultLimits, httpServer } from './http-server.ts'

const host = 'Host: localhost\r\n'
const short = { headersTimeout: 100, requestTimeout: 200, keepAliveTimeout: 50, timeout: 300, linger: 100 }

/**
 * A server that reads every body but that of PUT and answers with a megabyte, late if it is asked for `/slow`, and with many
 * if it is asked for `/long`; and a connection to it.
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
    if (ctx.path === '/slow') await sleep(1000)
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

/** Sends one byte of it after the other, until the connection is closed, and returns what came back. */
async function dribble(socket: Socket, begin: string, byte: string): Promise<string> {
  socket.setEncoding('latin1').write(begin)
  const dribbling = setInterval(() => socket.writable && socket.write(byte), 20)
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  // It may be reset when all has been read.
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(dribbling)
  return answer
}

describe('a client that is slow', { concurrency: true, timeout: 60_000 }, () => {
  test('I6 has ten seconds for a header, thirty for a request, and five for the next one', () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections } = httpServer(
      new Koa(),
    ).server
    assert.deepEqual([headersTimeout, requestTimeout, keepAliveTimeout], [10_000, 30_000, 5_000])
    assert.deepEqual([timeout, maxConnections], [30_000, 10_000])
  })

  test('is cut when it never says anything', async (t) => {
    assert.match(await dribble(await open(t), '', ''), /^HTTP\/1\.1 408 .*"status":408/s)
  })

  test('I6 L3 is cut in the middle of a header, with an answer that says so and has the headers of every other', async (t) => {
    const answer = await dribble(await open(t), `GET / HTTP/1.1\r\n${host}X-Slow: `, 'a')
    assert.match(answer, /^HTTP\/1\.1 408 .*\r\nX-Content-Type-Options: nosniff\r\n.*"status":408/s)
  })

  test('is cut though it goes on after that answer, and never closes its own side', async (t) => {
    const socket = await open(t, { ...short, allowHalfOpen: true })
    assert.match(await dribble(socket, `GET / HTTP/1.1\r\n${host}X-Slow: `, 'a'), /^HTTP\/1\.1 408 /)
  })

  test('is told how long it may keep a connection', async (t) => {
    const socket = await open(t, { ...short, keepAliveTimeout: 2000 })
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    const [head] = await once(socket, 'data')
    assert.match(String(head), /\r\nKeep-Alive: timeout=2\r\n/)
  })

  test('I6 is cut in the middle of a body', async (t) => {
    const begin = `POST / HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\n`
    assert.match(await dribble(await open(t), begin, 'a'), /^HTTP\/1\.1 408 /)
  })

  test('is cut in the middle of a body of many small chunks', async (t) => {
    const begin = `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`
    assert.match(await dribble(await open(t), begin, '1\r\na\r\n'), /^HTTP\/1\.1 408 /)
  })

  test('K10 is cut when it goes on with a body that has been refused, and has had time to read that', async (t) => {
    const patient = { headersTimeout: 60_000, requestTimeout: 60_000, linger: 100 }
    const socket = await open(t, patient)
    const begin = `PUT / HTTP/1.1\r\n${host}Content-Length: 1000000000\r\n\r\n`
    assert.match(await dribble(socket, begin, 'a'.repeat(10_000)), /^HTTP\/1\.1 413 .*Payload Too Large$/s)
  })

  test('is cut when it has been answered and asks nothing more', async (t) => {
    const socket = await open(t)
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    assert.match(await text(socket), /^HTTP\/1\.1 200 .*x$/s)
  })

  test('I6 is not cut while it asks now and then, or waits for an answer that takes its time', async (t) => {
    const socket = await open(t, { ...short, keepAliveTimeout: 300, timeout: 2000 })
    socket.resume()
    for (let asked = 0; asked < 10; asked += 1) {
      socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
      await sleep(100)
    }
    socket.write(`GET /slow HTTP/1.1\r\n${host}\r\n`)
    await sleep(800)
    const before = socket.bytesRead
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
    assert.ok(socket.bytesRead > before)
  })

  test('is not cut while it reads a long answer slowly', async (t) => {
    const socket = await open(t, { ...short, keepAliveTimeout: 100, timeout: 1000 })
    socket.write(`GET /long HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    let read = 0
    // Far more than the system holds for a connection.
    for await (const data of socket) {
      read += data.length
      if (read < 20_000_000) await sleep(5)
    }
    assert.ok(read > 50_000_000)
  })

  test('I6 is cut when it asks and asks, and never reads the answers', async (t) => {
    const socket = await open(t)
    socket.pause()
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`.repeat(50))
    // Nothing is read, so that the end of the connection shows only by what can be written.
    const writing = setInterval(() => socket.write(`GET / HTTP/1.1\r\n${host}\r\n`), 20)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(writing)
    assert.ok(socket.bytesRead < 50_000_000)
  })
})
