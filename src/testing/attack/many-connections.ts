// Floods of connections: `npm run attack`. Needs a minute, and ten thousand open files. The tests in `src/http` use small limits.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closing, open, openMany } from '../faults/sockets.ts'
import { startServer, temporaryFolder } from '../server-process.ts'

const host = 'Host: localhost\r\n'

describe('a server with many connections', () => {
  for (const isReading of [true, false]) {
    test(`P6: with a heap of 256 MB, serves others while 4,000 connections pipeline 32 requests each and ${isReading ? 'read' : 'do not read'} the responses`, async (t) => {
      const variables = { DATA_DIR: await temporaryFolder(t), NODE_OPTIONS: '--max-old-space-size=256' }
      const server = await startServer(t, variables)
      const sockets: Socket[] = []
      t.after(async () => {
        for (const socket of sockets) socket.destroy()
      })
      while (sockets.length < 4000)
        sockets.push(...(await openMany(server.url, 100, `127.0.${2 + (sockets.length % 1000) / 100}.1`)))
      const pipelined = `GET /login HTTP/1.1\r\n${host}Accept: text/html\r\n\r\n`.repeat(32)
      for (const socket of sockets) {
        if (isReading) socket.resume()
        else socket.pause()
        socket.write(pipelined)
      }
      const seconds: number[] = []
      while (seconds.length < 20) {
        const start = performance.now()
        assert.equal(await visit(server.url, '127.0.1.1'), 200)
        seconds.push((performance.now() - start) / 1000)
        await sleep(200)
      }
      t.diagnostic(`first page: ${seconds[0]} s, median: ${seconds.toSorted((a, b) => a - b)[10]} s`)
      assert.deepEqual([server.child.exitCode, server.child.signalCode], [null, null])
    })
  }

  test('P7: serves more than 95 of 100 others while one address opens connections with incomplete headers', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t) })
    const sockets = new Set<Socket>()
    const statuses: (number | undefined)[] = []
    const attack = Array.from({ length: 300 }, async () => {
      while (statuses.length < 100) {
        const socket = open(server.url, '127.0.0.2')
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        socket.write(`GET / HTTP/1.1\r\n${host}X-Slow: `)
        await Promise.race([once(socket, 'connect'), closing(socket)])
        while (sockets.size > 10_000 && statuses.length < 100) await sleep(10)
      }
    })
    let opened = 0
    for (const end = performance.now() + 20_000; opened < 10_000 && performance.now() < end; await sleep(100))
      opened = sockets.size
    for (let visitor = 1; visitor <= 100; visitor += 1)
      statuses.push(await visit(server.url, `127.0.1.${visitor}`))
    await Promise.all(attack)
    for (const socket of sockets) socket.destroy()
    const refused = statuses.filter((status) => status !== 200).length
    t.diagnostic(`${opened} connections of one address, ${refused} of 100 visitors refused`)
    assert.ok(refused < 5)
  })
})

/** The status of a page, for a visitor from this address. */
async function visit(url: string, localAddress: string): Promise<number | undefined> {
  const socket = open(url, localAddress)
  let answer = ''
  socket
    .setTimeout(10_000, () => socket.destroy())
    .on('data', (data) => {
      answer += data
    })
  socket.write(`GET /login HTTP/1.1\r\n${host}Accept: text/html\r\nConnection: close\r\n\r\n`)
  await closing(socket)
  return Number(answer.split(' ')[1]) || undefined
}
