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
  const seen = { atWork: 0, most: 0, sockets: new Set<Socket>() }
  const app = new Koa()
  app.use(async (ctx) => {
    seen.sockets.add(ctx.req.socket)
    seen.atWork += 1
    seen.most = Math.max(seen.most, seen.atWork)
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
  return { socket, gate, seen }
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

  test('gets no refusal of what follows in the place of an answer that it is owed', async (t) => {
    const { socket, gate } = await open(t)
    const answer = new Promise<string>((resolve) => {
      let all = ''
      socket.on('data', (data) => {
        all += data
      })
      socket.once('close', () => resolve(all))
    })
    socket.write(`GET /0 HTTP/1.1\r\n${host}\r\nno request at all\r\n\r\n`)
    assert.equal(await answer, '')
    gate.resolve()
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
