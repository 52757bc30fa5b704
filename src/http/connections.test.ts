import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

/**
 * Starts an application, and connects to it. The application responds with the path and the body once `gate` is resolved. It
 * starts the response to `/early` at once.
 */
async function open(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  const paths: string[] = []
  const app = new Koa()
  // Logs no errors of connections that the client has closed.
  app.silent = true
  app.use(async (ctx) => {
    paths.push(ctx.path)
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
    ctx.body = `[${ctx.path}${body}]`
  })
  const { server } = httpServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { server, socket, gate, paths }
}

const host = 'Host: localhost\r\n'

describe('Connections', () => {
  test('P6 responds to 16 pipelined requests in their order', async (t) => {
    const { socket, gate, paths } = await open(t)
    gate.resolve()
    const requests = Array.from({ length: 16 }, (_, i) => `GET /${i} HTTP/1.1\r\n${host}`)
    socket.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`)
    const answers = [...(await text(socket)).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path)
    assert.equal(answers.length, 16)
    assert.deepEqual(answers, paths)
  })

  test('P6 closes a connection that sends 17 requests at once, and handles none of them', async (t) => {
    const { socket, paths } = await open(t)
    socket.write(`GET /0 HTTP/1.1\r\n${host}\r\n`.repeat(17))
    await once(socket.resume(), 'close')
    assert.deepEqual(paths, [])
  })

  test('P6 closes a connection at its 17th unanswered request', async (t) => {
    const { socket, paths } = await open(t)
    const request = `GET /0 HTTP/1.1\r\n${host}\r\n`
    socket.resume().write(request.repeat(16))
    while (paths.length < 16) await new Promise(setImmediate)
    socket.write(request)
    await once(socket, 'close')
    assert.equal(paths.length, 16)
  })

  test('P6 closes a connection that sends many requests after an ambiguous one', async (t) => {
    const { server, socket } = await open(t)
    let received = 0
    server.on('request', () => {
      received += 1
    })
    const request = `GET /0 HTTP/1.1\r\n${host}\r\n`
    socket.resume().write(`${request}GET /1 HTTP/1.1\r\n${host}Expect: more\r\n\r\n`)
    while (received < 2) await new Promise(setImmediate)
    socket.write(request.repeat(14))
    while (received < 16) await new Promise(setImmediate)
    assert.equal(socket.closed, false)
    socket.write(request)
    while (received < 17) await new Promise(setImmediate)
    await once(socket, 'close')
  })

  test('P6 serves any number of requests on a connection, one after the other', async (t) => {
    const { socket, gate, paths } = await open(t)
    gate.resolve()
    for (let count = 0; count < 40; count += 1) {
      socket.write(`GET /0 HTTP/1.1\r\n${host}\r\n`)
      await once(socket, 'data')
    }
    assert.equal(paths.length, 40)
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
      const { server, socket, gate, paths } = await open(t)
      const answer = text(socket)
      socket.write(whole + bytes)
      await once(server, 'clientError')
      for (let more = 0; more < 20; more += 1) socket.write('and more\r\n\r\n')
      gate.resolve()
      const [first, second, third] = (await answer).split(/(?=HTTP\/1\.1 )/)
      assert.match(first ?? '', /^HTTP\/1\.1 200 .*\r\n\r\n\[\/0ab\]$/s, what)
      assert.match(second ?? '', /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\r\n\[\/1\]$/s, what)
      assert.equal(third, undefined, what)
      assert.equal(paths.filter((path) => path === '/0' || path === '/1').length, 2, what)
    }
  })

  test('I2 handles no request after one with an unknown expectation', async (t) => {
    for (const behind of [`GET /2 HTTP/1.1\r\n${host}\r\n`, 'no request at all\r\n\r\n']) {
      const { socket, gate, paths } = await open(t)
      const answer = text(socket)
      socket.write(`${whole}GET /1 HTTP/1.1\r\n${host}Expect: more\r\n\r\n${behind}`)
      await new Promise(setImmediate)
      gate.resolve()
      assert.deepEqual(
        [...(await answer).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path),
        ['/0ab', '/1'],
      )
      assert.deepEqual(paths, ['/0', '/1'])
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
      const { socket, gate, paths } = await open(t)
      const answer = text(socket)
      for (const packet of packets) {
        socket.write(packet)
        await new Promise(setImmediate)
      }
      gate.resolve()
      assert.match(await answer, /\[\/0ab\]HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\[\/1ab\]$/s)
      assert.deepEqual(paths, ['/0', '/1'])
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
})
