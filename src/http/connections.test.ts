import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { type defaultLimits, httpServer } from './http-server.ts'

/**
 * Starts an application, and connects to it. The application responds with the path and the body once `gate` is resolved. It
 * starts the response to `/early` at once. The response to `/large` has 20 MB.
 */
async function open(t: TestContext, limits: Partial<typeof defaultLimits> = {}) {
  const gate = Promise.withResolvers<void>()
  const seen = { running: 0, most: 0, paths: [] as string[], sockets: new Set<Socket>() }
  const app = new Koa()
  // Logs no errors of connections that the client has closed.
  app.silent = true
  app.use(async (ctx) => {
    seen.sockets.add(ctx.req.socket)
    seen.paths.push(ctx.path)
    seen.running += 1
    seen.most = Math.max(seen.most, seen.running)
    if (ctx.path === '/early') {
      ctx.respond = false
      ctx.status = 200
      ctx.res.write('begun, ')
      return gate.promise.then(() => ctx.res.end('ended'))
    }
    const body = await text(ctx.req)
    await gate.promise
    // Makes some later requests faster than earlier ones.
    for (let turn = Number(ctx.path.slice(1)) % 7; turn > 0; turn -= 1) await new Promise(setImmediate)
    seen.running -= 1
    ctx.body = ctx.path === '/large' ? 'x'.repeat(20_000_000) : `[${ctx.path}${body}]`
  })
  const { server } = httpServer(app, { limits })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const another = () => connect(port, '127.0.0.1').on('error', () => {})
  const socket = another()
  t.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { server, socket, another, gate, seen }
}

const paths = Array.from({ length: 200 }, (_, i) => `/${i}`)
const host = 'Host: localhost\r\n'

/** The last request closes the connection, because Node sends no response after the client has closed its side. */
function ending(path: string): string {
  return path === paths.at(-1) ? `${host}Connection: close\r\n` : host
}

describe('Connections', () => {
  test('P6 handles 200 pipelined requests one at a time, in order', async (t) => {
    const { socket, gate, seen } = await open(t)
    gate.resolve()
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${ending(path)}\r\n`)
    socket.write(requests.join(''))
    const answers = [...(await text(socket)).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path)
    assert.deepEqual(answers, paths)
    assert.equal(seen.most, 1)
  })

  test('P6 handles pipelined requests with bodies that arrive in small parts', async (t) => {
    const { socket, gate, seen } = await open(t)
    const requests = paths.map((path) => {
      const body = ` ${path}`.repeat(200)
      return `POST ${path} HTTP/1.1\r\n${ending(path)}Content-Length: ${body.length}\r\n\r\n${body}`
    })
    const answered = text(socket)
    for (const part of requests.join('').match(/[\s\S]{1,5000}/g) ?? []) {
      socket.write(part)
      await new Promise(setImmediate)
    }
    gate.resolve()
    const answers = [...(await answered).matchAll(/^\[(\S+)((?: \S+)*)\]/gm)]
    assert.deepEqual(
      answers.map(([, path]) => path),
      paths,
    )
    for (const [, path, body] of answers) assert.equal(body, ` ${path}`.repeat(200))
    assert.equal(seen.most, 1)
  })

  const whole = `POST /0 HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nab`
  const last = `GET /1 HTTP/1.1\r\n${host}`
  test('I2 responds only to the complete requests before an invalid, ambiguous or unexpected one', async (t) => {
    const rest = {
      'data that is not HTTP': `${last}\r\nno request at all\r\n\r\n`,
      'a request that follows `Connection: close`': `${last}Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n${host}\r\n`,
      'an invalid chunked body': `${last}\r\nPOST /2 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef`,
      'a request with an ambiguous end': `${last}\r\nPOST /2 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
    }
    for (const [what, bytes] of Object.entries(rest)) {
      const { server, socket, gate, seen } = await open(t)
      const answer = text(socket)
      socket.write(whole + bytes)
      await once(server, 'clientError')
      for (let more = 0; more < 20; more += 1) socket.write('and more\r\n\r\n')
      gate.resolve()
      const [first, second, third] = (await answer).split(/(?=HTTP\/1\.1 )/)
      assert.match(first ?? '', /^HTTP\/1\.1 200 .*\r\n\r\n\[\/0ab\]$/s, what)
      assert.match(second ?? '', /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\r\n\[\/1\]$/s, what)
      assert.equal(third, undefined, what)
      assert.equal(seen.paths.filter((path) => path === '/0' || path === '/1').length, 2, what)
    }
  })

  test('I2 responds to waiting requests, and handles no incomplete request after them', async (t) => {
    const { server, socket, gate, seen } = await open(t)
    const answer = text(socket)
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${host}\r\n`).join('')
    socket.write(`${requests}POST /half HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nno size\r\n`)
    await once(server, 'clientError')
    gate.resolve()
    const answers = [...(await answer).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path)
    assert.deepEqual(answers, paths)
    assert.deepEqual(seen.paths, paths)
  })

  test('I2 handles no request after one with an unknown expectation', async (t) => {
    for (const behind of [`GET /2 HTTP/1.1\r\n${host}\r\n`, 'no request at all\r\n\r\n']) {
      const { socket, gate, seen } = await open(t)
      const answer = text(socket)
      socket.write(`${whole}GET /1 HTTP/1.1\r\n${host}Expect: more\r\n\r\n${behind}`)
      await new Promise(setImmediate)
      gate.resolve()
      assert.deepEqual(
        [...(await answer).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path),
        ['/0ab', '/1'],
      )
      assert.deepEqual(seen.paths, ['/0', '/1'])
    }
  })

  test('ignores an upgrade (RFC 9110 §7.8), and handles no later request of the connection', async (t) => {
    const post = `POST /1 HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n`
    const later = `GET /2 HTTP/1.1\r\n${host}\r\n`
    for (const packets of [
      [`${whole}${post}ab${later}`],
      [`${whole}${post}`, `ab${later}`],
      [`${whole}${post}ab${later.slice(0, 20)}`, later.slice(20)],
    ]) {
      const { socket, gate, seen } = await open(t)
      const answer = text(socket)
      for (const packet of packets) {
        socket.write(packet)
        await new Promise(setImmediate)
      }
      gate.resolve()
      assert.match(await answer, /\[\/0ab\]HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\[\/1ab\]$/s)
      assert.deepEqual(seen.paths, ['/0', '/1'])
    }
  })

  test('I2 completes a started response if the rest of its request cannot be parsed', async (t) => {
    const { server, socket, gate } = await open(t)
    socket.write(`POST /early HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`)
    const [begun] = await once(socket, 'data')
    const answer = text(socket)
    socket.write('no size\r\n')
    await once(server, 'clientError')
    gate.resolve()
    assert.match(
      begun + (await answer),
      /^HTTP\/1\.1 200 .*\r\n\r\n7\r\nbegun, \r\n5\r\nended\r\n0\r\n\r\n$/s,
    )
  })

  test('P6 closes a connection that sends 2,000 requests at once, and handles none of them', async (t) => {
    const { socket, gate, seen } = await open(t)
    const cut = new Promise((resolve) => socket.once('close', resolve))
    socket.write(`GET /0 HTTP/1.1\r\n${host}\r\n`.repeat(2000))
    socket.resume()
    await cut
    gate.resolve()
    assert.deepEqual(seen.paths, [])
  })

  test('P6 pauses a connection while its requests wait, with and without bodies', async (t) => {
    const get = `GET /0 HTTP/1.1\r\n${host}\r\n`
    const post = `POST /0 HTTP/1.1\r\n${host}Content-Length: 9\r\n\r\n123456789`
    for (const request of [get, post]) {
      const { socket, seen } = await open(t, { maxWaiting: 10_000, maxRequests: 10_000 })
      socket.write(request.repeat(100_000))
      // Enough event-loop turns to read everything.
      for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
      const [{ bytesRead } = assert.fail('no connection was accepted')] = seen.sockets
      assert.ok(bytesRead > 0 && bytesRead <= 2 * 65_536, `${bytesRead} bytes`)
      assert.equal(seen.most, 1)
    }
  })

  test('P6 delays the next request until the client reads a large response', async (t) => {
    const { socket, gate, seen } = await open(t)
    gate.resolve()
    socket.pause()
    socket.write(`GET /large HTTP/1.1\r\n${host}\r\nGET /1 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
    assert.deepEqual(seen.paths, ['/large'])
    assert.ok((await text(socket)).endsWith('[/1]'))
  })

  test('P6 limits the waiting requests of all connections together, and serves clients that do not pipeline', async (t) => {
    const { another, gate, seen } = await open(t, { maxWaiting: 100 })
    const request = (count: number) => {
      const socket = another()
      socket.write(`GET /0 HTTP/1.1\r\n${host}\r\n`.repeat(count - 1))
      socket.write(`GET /0 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
      return text(socket).catch(() => '')
    }
    const answers = Array.from({ length: 20 }, () => request(32))
    const cut = await Promise.any(answers)
    assert.equal(cut, '')
    answers.push(request(1))
    while (seen.sockets.size < 4) await new Promise(setImmediate)
    gate.resolve()
    const counts = (await Promise.all(answers)).map((answer) => answer.match(/\[\/0\]/g)?.length ?? 0)
    assert.deepEqual(
      counts.toSorted((a, b) => a - b),
      [...Array(17).fill(0), 1, 32, 32, 32],
    )
  })

  test('P6 limits the running requests of all connections together, and responds to all requests', async (t) => {
    const { another, gate, seen } = await open(t, { maxRequests: 10 })
    const answers = Array.from({ length: 50 }, () => {
      const socket = another()
      socket.write(`GET /0 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
      return text(socket)
    })
    while (seen.running < 11) await new Promise(setImmediate)
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
    assert.equal(seen.running, 11)
    gate.resolve()
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 .*\[\/0\]$/s)
  })
})
