import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { httpServer } from './http-server.ts'

const host = 'Host: localhost\r\n'
const upgrade = `${host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nUpgrade: websocket\r\nHTTP2-Settings: AAA\r\n`
const last = `GET /last HTTP/1.1\r\n${host}Connection: close\r\n\r\n`

/** Sends these packets. Returns the path and the body of each request that got a response. */
async function request(t: TestContext, packets: readonly string[]): Promise<string[]> {
  const app = new Koa()
  app.use(async (ctx) => {
    const body = await text(ctx.req)
    await new Promise(setImmediate)
    ctx.body = `[${ctx.path} ${body}]`
  })
  const { server } = httpServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay()
  const answer = text(socket)
  for (const [i, packet] of packets.entries()) {
    if (i > 0) await once(socket, 'data')
    socket.write(packet)
  }
  return [...(await answer).matchAll(/\[(.*?)\]/gs)].map(([, each = '']) => each)
}

describe('ignoreUpgrades', () => {
  test('ignores the upgrade, and responds to the request (RFC 9110 §7.8)', async (t) => {
    assert.deepEqual(await request(t, [`GET /1 HTTP/1.1\r\n${upgrade}\r\n`, last]), ['/1 ', '/last '])
  })

  test('responds to later requests in the same packet', async (t) => {
    const first = `POST /1 HTTP/1.1\r\n${upgrade}Content-Length: 3\r\n\r\nabc`
    const second = `POST /2 HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n`
    assert.deepEqual(await request(t, [first + second + last]), ['/1 abc', '/2 de', '/last '])
  })

  test('responds to a later request in two packets', async (t) => {
    const packets = [`GET /1 HTTP/1.1\r\n${upgrade}\r\n${last.slice(0, 20)}`, last.slice(20)]
    assert.deepEqual(await request(t, packets), ['/1 ', '/last '])
  })

  test('responds only to the requests before a pipelined upgrade, and closes the connection', async (t) => {
    const first = `GET /1 HTTP/1.1\r\n${host}\r\n`
    const packet = `${first}${first}GET /2 HTTP/1.1\r\n${upgrade}\r\n${last}`
    assert.deepEqual(await request(t, [packet]), ['/1 ', '/1 '])
  })

  test('keeps more than 2,000 headers', async (t) => {
    const many = Array.from({ length: 2100 }, (_, i) => `${i}:\r\n`).join('')
    const first = `POST /1 HTTP/1.1\r\n${upgrade}${many}Content-Length: ${last.length}\r\n\r\n${last}`
    assert.deepEqual(await request(t, [first + last]), [`/1 ${last}`, '/last '])
  })
})
