import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, test } from 'node:test'
import { open, openFiles, openMany } from '../testing/faults/sockets.ts'
import { until } from '../testing/faults/until.ts'
import { assertStatuses, isSuccess, userRequests } from '../testing/faults/user-requests.ts'
import { registration } from '../testing/people.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'

const host = 'Host: localhost\r\n'
const json = 'Content-Type: application/json\r\n'
const login = '{"username":"ada@example.com","password":"wrong"}'

/** The bytes that a client sends before it closes the connection. */
const unfinished = {
  'in the middle of a header': 'GET / HTTP/1.1\r\nHost: loc',
  'in the middle of a body': `POST /login HTTP/1.1\r\n${host}${json}Content-Length: 500\r\n\r\n{"user`,
  'in the middle of a chunk': `POST /users HTTP/1.1\r\n${host}${json}Transfer-Encoding: chunked\r\n\r\n10\r\nab`,
  'in the middle of a response': `GET / HTTP/1.1\r\n${host}\r\n`,
  'during a password check': `POST /login HTTP/1.1\r\n${host}${json}Content-Length: ${login.length}\r\n\r\n${login}`,
}

describe('a server with many clients', {
  concurrency: true,
  skip: !existsSync('/proc/self/fd') && 'needs /proc',
}, () => {
  test('K10 N9 logs no warning for hundreds of aborted connections, and closes their file descriptors', async (t) => {
    const variables = { DATA_DIR: await temporaryFolder(t), THROTTLE: 'off' }
    const server = await startServer(t, variables, { isPatient: true })
    await server.visitor().json('/users', registration('Ada'))
    await server.visitor().page('/')
    const before = openFiles(server.child.pid)
    for (const bytes of Object.values(unfinished)) {
      for (let batch = 0; batch < 2; batch += 1) {
        const sockets = await openMany(server.url, 50)
        for (const socket of sockets) await new Promise((sent) => socket.write(bytes, sent))
        for (const [i, socket] of sockets.entries()) i % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()
      }
    }
    await until('all connections are closed', () => openFiles(server.child.pid) <= before)
    assert.equal((await server.visitor().page('/')).status, 200)
    const warnings = server.log.filter(({ level }) => Number(level) >= 40)
    assert.deepEqual(warnings, [])
    assert.ok(server.log.length < 5000, `${server.log.length} lines`)
  })

  test('N9 serves requests beside hundreds of silent connections, and closes their file descriptors when the clients disconnect', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t) }, { isPatient: true })
    const { open: publicRequests, reading, writing } = await userRequests(server)
    const before = openFiles(server.child.pid)
    const sockets = Array.from({ length: 600 }, () => open(server.url))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await until('all connections are accepted', () => openFiles(server.child.pid) >= before + 600)
    await assertStatuses(isSuccess, publicRequests, reading, writing)
    for (const socket of sockets) socket.destroy()
    // Keep-alive connections of the test stay open for a while.
    await until('the connections are closed', () => openFiles(server.child.pid) <= before + 50)
  })

  test('N9 serves open connections when no file descriptor is free, and new ones when descriptors are free again', {
    skip: !existsSync('/usr/bin/prlimit') && 'needs prlimit',
  }, async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t) }, { isPatient: true })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const get = async (path: string) => {
      const outgoing = request(server.url + path, { agent, headers: { accept: 'text/html' } }).end()
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
      for await (const _part of incoming);
      return incoming.statusCode
    }
    assert.equal(await get('/healthz'), 200)
    execFileSync('prlimit', ['--pid', String(server.child.pid), '--nofile=64:'])
    const sockets = Array.from({ length: 200 }, () => open(server.url))
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    // The server closes the connections for which it has no free descriptor.
    await Promise.any(closed)
    await until('no more files can be opened', () => openFiles(server.child.pid) >= 64)
    for (const path of ['/', '/login', '/signup', '/style.css', '/readyz']) assert.equal(await get(path), 200)
    assert.equal(await get('/nowhere'), 404)

    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
    await until('descriptors are free again', () => openFiles(server.child.pid) < 40)
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)
    assert.equal(server.child.exitCode, null)
    assert.ok(server.log.length < 100, `${server.log.length} lines`)
  })
})
