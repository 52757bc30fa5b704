import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { until } from './testing/faults/until.ts'
import { basic, bearer, password, registration, signUp, takeToken } from './testing/people.ts'
import { type ProcessResult, runServer, startServer, temporaryFolder } from './testing/server-process.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('the server', { concurrency: 2 }, () => {
  test('starts with a missing DATA_DIR, writes pending last-use times before it stops on SIGINT, and keeps its data', async (t) => {
    const folder = join(await temporaryFolder(t), 'not', 'there', 'yet')
    const server = await startServer(t, { DATA_DIR: folder })
    assert.deepEqual(
      server.log.map(({ msg, pid }) => [msg, pid]),
      [
        ['database ready', undefined],
        ['listening', undefined],
      ],
    )
    assert.equal((await server.visitor().page('/')).status, 200)
    assert.equal((await server.visitor().get('/readyz')).status, 200)
    const person = await signUp(server)
    const token = await takeToken(server, person)
    assert.equal((await server.visitor().get('/me', bearer(token))).status, 200)
    server.child.kill('SIGINT')
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr, server.log.at(-1)?.msg], [0, '', 'stopped'])

    const again = await startServer(t, { DATA_DIR: folder })
    const { text } = await again.visitor().post('/account/data', basic(person))
    assert.equal(typeof JSON.parse(text).tokens[0].lastUsedAt, 'string', text)
  })

  test('F2 gives other users of the machine no access to its files, and warns if they can access DATA_DIR', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no such permission bits.')
    const folder = await temporaryFolder(t)
    await chmod(folder, 0o755)
    const server = await startServer(t, { DATA_DIR: folder })
    await server.visitor().json('/users', registration('Ada'))
    const files = await readdir(folder)
    for (const name of ['site.sqlite', 'site.sqlite-wal', 'jwt-secret']) assert.ok(files.includes(name), name)
    for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o077, 0, file)
    assert.match(
      String(server.log[1]?.msg),
      /^Other users of this machine can access DATA_DIR\. Run: chmod 700 /,
    )
  })

  test('keeps the code cache for the next start, even if the server is killed', async (t) => {
    const compiled = await temporaryFolder(t)
    const variables = { DATA_DIR: await temporaryFolder(t), NODE_COMPILE_CACHE: compiled }
    const server = await startServer(t, variables)
    const isKept = async () => (await readdir(compiled, { recursive: true })).length > 100
    while (!(await isKept())) await sleep(50)
    server.child.kill('SIGKILL')
    await server.ended
    assert.ok(await isKept())
  })

  test('can fill the code cache without serving, for a container image with a read-only cache', async (t) => {
    const folder = await temporaryFolder(t)
    const compiled = await temporaryFolder(t)
    const child = spawn(process.execPath, [join(import.meta.dirname, 'start.js'), 'serving'], {
      cwd: folder,
      env: { NODE_COMPILE_CACHE: compiled, NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.deepEqual(await readdir(folder), [])
    assert.ok((await readdir(compiled, { recursive: true })).length > 100)
  })

  test('N4 serves requests and stops on SIGTERM, even if its log cannot be written', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has a disk that is always full.')
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    const variables = { DATA_DIR: await temporaryFolder(t), PORT: String(port) }
    const shell = { node: 'sh', options: ['-c', `exec "${process.execPath}" "$@" > /dev/full`, 'sh'] }
    const { child, ended } = runServer(t, variables, shell)
    const url = `http://127.0.0.1:${port}/login`
    const isServed = () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    while (!(await isServed())) await sleep(50)
    for (let i = 0; i < 200; i += 1) assert.ok(await isServed(), `request ${i}`)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

  test('prints readable lines in development, one with the URL of the site, to a pipe and to a terminal', async (t) => {
    const program = join(import.meta.dirname, 'start.js')
    const command = `'${process.execPath}' '${program}' server`
    const commands = [['sh', '-c', `exec ${command}`]]
    if (spawnSync('script', ['--version']).status === 0)
      commands.push(['script', '-qec', command, '/dev/null'])
    for (const [shell = '', ...words] of commands) {
      const folder = await temporaryFolder(t)
      const server = spawn(shell, words, {
        env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', BCRYPT_COST: '4' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      t.after(() => server.kill('SIGKILL'))
      let url = ''
      for await (const [line] of on(createInterface(server.stdout), 'line')) {
        url = stripVTControlCharacters(line).match(/INFO: Listening on (http:\S+)$/)?.[1] ?? ''
        if (url !== '') break
      }
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
      const body = new URLSearchParams(registration('Ada') as Record<string, string>)
      assert.equal((await fetch(`${url}/users`, { method: 'POST', body })).status, 200)
      // Links in mails need the same host as the page, because the session cookie is valid for that host only.
      await until('the mail is sent', async () => (await mailsIn(folder)).includes(`${url}/verify`))
    }
  })

  test('N6 on SIGTERM is not ready, accepts requests for a while, completes a running request, and exits with 0', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: '1' })
    const ada = server.visitor()
    await ada.json('/users', registration('Ada'))
    const body = new URLSearchParams({ username: 'ada@example.com', password }).toString()
    const length = { 'content-length': body.length }
    const login = ada.open('POST', '/login', { ...form, ...length, expect: '100-continue' })
    login.write(body.slice(0, 9))
    await login.begun

    server.child.kill('SIGTERM')
    assert.equal((await server.says('stopping')).signal, 'SIGTERM')
    assert.equal((await server.visitor().get('/readyz')).status, 503)
    assert.equal((await server.visitor().get('/healthz')).status, 200)
    assert.equal((await server.visitor().page('/')).status, 200)

    while (await accepts(server.url));
    assert.equal((await login.end(body.slice(9))).status, 303)
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(server.log.at(-1)?.msg, 'stopped')
  })

  test('N6 exits immediately on a signal that arrives at least a second after the first', async (t) => {
    const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), DRAIN_SECONDS: '600' })
    server.child.kill('SIGTERM')
    await server.says('stopping')
    const signals = setInterval(() => server.child.kill('SIGINT'), 50)
    const { code } = await server.ended
    clearInterval(signals)
    assert.equal(code, 1)
    assert.ok(server.log.every(({ msg }) => msg !== 'stopped'))
  })

  test('N6 stops gracefully if the signal reaches its whole process group, as from a terminal or systemd', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no process groups.')
    const program = join(import.meta.dirname, 'start.js')
    // A shell between the server and the test, as in `npm start`. It ends at the signal.
    const shell = spawn('sh', ['-c', '"$0" "$1" server; true', process.execPath, program], {
      env: {
        NODE_ENV: 'test',
        DATA_DIR: await temporaryFolder(t),
        PORT: '0',
        DRAIN_SECONDS: '1',
        npm_lifecycle_event: 'start',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    const messages: unknown[] = []
    for await (const line of createInterface(shell.stdout)) {
      const { msg } = JSON.parse(line)
      messages.push(msg)
      if (msg === 'listening') process.kill(-Number(shell.pid), 'SIGTERM')
    }
    assert.deepEqual(messages, ['database ready', 'listening', 'stopping', 'stopped'])
  })

  test('reports an invalid configuration with one line for each invalid variable, and exits with 1', async (t) => {
    const variables = {
      DATA_DIR: await temporaryFolder(t),
      PORT: 'x',
      BCRYPT_COST: '99',
      PUBLIC_URL: 'example.com',
      JWT_SECRET: 'a secret that is short',
      LOG_LEVEL: 'loud',
    }
    const lines = refusal(await runServer(t, variables).ended)
    const names = lines.map((line) => line.split(' ')[0])
    assert.deepEqual(names.sort(), ['BCRYPT_COST', 'JWT_SECRET', 'LOG_LEVEL', 'PORT', 'PUBLIC_URL'])
    assert.ok(!lines.join().includes('a secret that is short'), 'the secret is not printed')
  })

  test('N1 reports an occupied port in one line', async (t) => {
    const otherServer = createServer().listen(0, '127.0.0.1')
    await once(otherServer, 'listening')
    t.after(() => otherServer.close())
    const port = String((otherServer.address() as AddressInfo).port)
    const [line, ...others] = refusal(
      await runServer(t, { DATA_DIR: await temporaryFolder(t), PORT: port }).ended,
    )
    assert.match(line ?? '', new RegExp(`EADDRINUSE.*${port}\\. Set another PORT`))
    assert.deepEqual(others, [])
  })

  test('reports an outdated Node in one line, before it loads other modules', async (t) => {
    const older =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })"
    const pretended = runServer(
      t,
      { PORT: 'x' },
      { options: ['--import', `data:text/javascript,${encodeURIComponent(older)}`] },
    )
    const endings = [await pretended.ended]
    // The system's Node, if it is outdated.
    if (existsSync('/usr/bin/node'))
      endings.push(await runServer(t, { PORT: 'x' }, { node: '/usr/bin/node' }).ended)
    const own = endings[1]?.stdout === '' && !/Node 24 or newer/.test(endings[1].stderr)
    for (const ending of own ? endings.slice(0, 1) : endings) {
      const [line, ...others] = refusal(ending)
      assert.match(line ?? '', /^Node v\d[\d.]* is too old: the site needs Node 24 or newer\. /)
      assert.deepEqual(others, [])
    }
  })
})

/** The lines on stderr. Asserts exit code 1, no other output and no stack. */
function refusal({ code, stdout, stderr }: ProcessResult): string[] {
  assert.deepEqual([code, stdout], [1, ''], stderr)
  assert.doesNotMatch(stderr, /\n\s+at |node:internal|Error:/)
  return stderr.trimEnd().split('\n')
}

function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answered = Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false),
  ])
  return answered.catch(() => false).finally(() => socket.destroy())
}

/** The text of all mails that a site in development has written. */
async function mailsIn(folder: string): Promise<string> {
  // There is no folder before the first mail.
  const names = await readdir(join(folder, 'mail')).catch(() => [])
  const mails = names
    .filter((name) => name.endsWith('.eml'))
    .map((name) => readFile(join(folder, 'mail', name), 'utf8'))
  return (await Promise.all(mails)).join('')
}
