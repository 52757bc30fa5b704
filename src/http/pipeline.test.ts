import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

/** An application that answers with path and body once it is let, and a connection to it. */
async function open(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  const seen = { atWork: 0, most: 0, paths: [] as string[], sockets: new Set<Socket>() }
  const app = new Koa()
  // It may be told that a client has gone.
  app.silent = true
  app.use(async (ctx) => {
    seen.sockets.add(ctx.req.socket)
    seen.paths.push(ctx.path)
    seen.atWork += 1
    seen.most = Math.max(seen.most, seen.atWork)
    if (ctx.path === '/early') {
      ctx.respond = false
      ctx.status = 200
      ctx.res.write('begun, ')
      return gate.promise.then(() => ctx.res.end('ended'))
    }
    const body = await text(ctx.req)
    await gate.promise
    // Some take longer than the next.
    for (let turn = Number(ctx.path.slice(1)) % 7; turn > 0; turn -= 1) await new Promise(setImmediate)
    seen.atWork -= 1
    ctx.body = `[${ctx.path}${body}]`
  })
  const server = httpServer(app, { isDraining: false }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { server, socket, gate, seen }
}

const paths = Array.from({ length: 200 }, (_, i) => `/${i}`)
const host = 'Host: localhost\r\n'

/** The last one says so: Node has no answers any more for who closes its side before it has read them. */
function ending(path: string): string {
  return path === paths.at(-1) ? `${host}Connection: close\r\n` : host
}

describe('a connection whose client does not wait for answers', () => {
  test('has 200 requests answered in order, and never more than 32 of them at work', async (t) => {
    const { socket, gate, seen } = await open(t)
    gate.resolve()
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${ending(path)}\r\n`)
    socket.write(requests.join(''))
    const answers = [...(await text(socket)).matchAll(/^\[(.*)\]/gm)].map(([, path]) => path)
    assert.deepEqual(answers, paths)
    assert.equal(seen.most, 32)
  })

  test('has bodies that are sent in small parts arrive with their requests', async (t) => {
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
    assert.equal(seen.most, 32)
  })

  const whole = `POST /0 HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nab`
  const last = `GET /1 HTTP/1.1\r\n${host}`
  for (const [what, bytes] of Object.entries({
    'is no request at all': `${last}\r\nno request at all\r\n\r\n`,
    'is a request behind one that says it is the last': `${last}Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n${host}\r\n`,
    'is a request whose body breaks off into something else': `${last}\r\nPOST /2 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef`,
    'could end in two places': `${last}\r\nPOST /2 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  })) {
    test(`has the whole requests answered, and nothing else, when what follows ${what}`, async (t) => {
      const { server, socket, gate, seen } = await open(t)
      const answer = text(socket)
      socket.write(whole + bytes)
      for (let more = 0; more < 20; more += 1) {
        await once(server, 'clientError')
        socket.write('and more\r\n\r\n')
      }
      gate.resolve()
      const [first, second, third] = (await answer).split(/(?=HTTP\/1\.1 )/)
      assert.match(first ?? '', /^HTTP\/1\.1 200 .*\r\n\r\n\[\/0ab\]$/s)
      assert.match(second ?? '', /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n.*\r\n\[\/1\]$/s)
      assert.equal(third, undefined)
      assert.equal(seen.paths.filter((path) => path === '/0' || path === '/1').length, 2)
    })
  }

  test('has the whole requests answered that wait for others, and half a one behind them not begun', async (t) => {
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

  test('has a request answered that may end elsewhere, and nothing behind it carried out, request or not', async (t) => {
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

  test('has an answer that has begun end, and nothing in the middle of it, when its request breaks off into something else', async (t) => {
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

  test('is cut when it sends thousands of them at once', async (t) => {
    const { socket, gate, seen } = await open(t)
    const cut = new Promise((resolve) => socket.once('close', resolve))
    socket.write(`GET /0 HTTP/1.1\r\n${host}\r\n`.repeat(2000))
    socket.resume()
    await cut
    gate.resolve()
    assert.equal(seen.most, 32)
  })

  for (const [what, head] of Object.entries({
    'without bodies': `GET /0 HTTP/1.1\r\n${host}\r\n`,
    'with bodies': `POST /0 HTTP/1.1\r\n${host}Content-Length: 9\r\n\r\n123456789`,
  })) {
    test(`is not read any further while requests wait: ${what}`, async (t) => {
      const { socket, seen } = await open(t)
      socket.write(head.repeat(500_000))
      // As often as it would be read.
      for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
      const [{ bytesRead } = assert.fail('nothing has arrived')] = seen.sockets
      assert.ok(bytesRead > 0 && bytesRead <= 2 * 65_536, `${bytesRead} bytes`)
      assert.equal(seen.most, 32)
    })
  }
})
