// Attacks a server with connections, and prints measurements. `npm run attack` takes minutes, and needs an idle machine.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { measure, measuring } from '../faults/measured-server.ts'
import { closing, open, openFiles, openMany } from '../faults/sockets.ts'
import { until } from '../faults/until.ts'
import { assertStatuses, isSuccess, userRequests } from '../faults/user-requests.ts'
import { startServer, temporaryFolder } from '../server-process.ts'

const host = 'Host: localhost\r\n'

describe('connections under attack', () => {
  test('N9: serves requests while five thousand connections are idle, and after ten thousand aborted uploads', async (t) => {
    const variables = { DATA_DIR: await temporaryFolder(t), THROTTLE: 'off', ...measuring }
    const server = await startServer(t, variables, { isPatient: true })
    const { open: publicRequests, reading, writing } = await userRequests(server)
    const before = { files: openFiles(server.child.pid), ...(await measure(server)) }
    const idle: Socket[] = []
    t.after(async () => {
      for (const socket of idle) socket.destroy()
    })
    // From ten networks, because each address may have at most 1,000 connections.
    while (idle.length < 5000)
      idle.push(...(await openMany(server.url, 100, `127.0.${2 + (idle.length % 1000) / 100}.1`)))
    await until('all are accepted', () => openFiles(server.child.pid) >= before.files + 5000)
    await assertStatuses(isSuccess, publicRequests, reading, writing)
    for (const socket of idle) socket.destroy()
    await until('all are closed', () => openFiles(server.child.pid) <= before.files)

    const bytes = `POST /login HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{`
    for (let batch = 0; batch < 100; batch += 1) {
      const sockets = await openMany(server.url, 100)
      for (const socket of sockets) await new Promise((sent) => socket.write(bytes, sent))
      for (const [i, socket] of sockets.entries()) i % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()
    }
    await until('all are closed', () => openFiles(server.child.pid) <= before.files)
    await assertStatuses(isSuccess, publicRequests, reading)
    const warnings = server.log.filter(({ level }) => Number(level) >= 40)
    assert.deepEqual(warnings, [])
    const { heap } = await measure(server)
    t.diagnostic(`${before.heap} MB before, ${heap} MB after`)
    assert.ok(heap < before.heap + 20)
  })

  test('K10: the heap has grown by less than 20 MB after five seconds of endless uploads by fifty clients', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), ...measuring })
    const before = await measure(server)
    const begin = `POST /users HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n`
    const end = performance.now() + 5000
    const uploads = Array.from({ length: 50 }, async () => {
      while (performance.now() < end) {
        const socket = open(server.url)
        await once(socket, 'connect')
        socket.resume().write(begin)
        const closed = closing(socket)
        const block = 'x'.repeat(16_384)
        while (!socket.destroyed && performance.now() < end) {
          socket.write(block)
          await sleep(1)
        }
        socket.destroy()
        await closed
      }
    })
    await Promise.all(uploads)
    const { heap } = await measure(server)
    t.diagnostic(`${before.heap} MB before, ${heap} MB after`)
    assert.ok(heap < before.heap + 20)
    assert.equal((await server.visitor().page('/')).status, 200)
  })
})
