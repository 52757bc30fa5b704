import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { until } from '../../testing/faults/until.ts'
import { registration } from '../../testing/people.ts'
import { type ProcessResult, runServer, startServer, temporaryFolder } from '../../testing/server-process.ts'

type Server = Awaited<ReturnType<typeof startServer>>

async function startWorkers(t: TestContext, variables: Record<string, string> = {}) {
  const all = { DATA_DIR: await temporaryFolder(t), WORKERS: '2', ...variables }
  return startServer(t, all, { isPatient: true })
}

function lines({ log }: Server, message: string) {
  return log.filter(({ msg }) => msg === message)
}

/** The process ids of all workers that ever listened. */
function workersOf(server: Server): number[] {
  return lines(server, 'a worker listens').map((line) => Number(line['process.pid']))
}

/** The Node option that makes every worker run this code first. */
function inWorkers(code: string): string {
  const program = `import cluster from 'node:cluster'; if (cluster.isWorker) { ${code} }`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}

describe('worker processes', () => {
  test('share a port, each with its process id in the log, and log each configuration warning once', async (t) => {
    const server = await startWorkers(t, {
      NODE_ENV: 'production',
      PUBLIC_URL: 'http://example.com',
      JWT_SECRET: crypto.randomUUID(),
      BCRYPT_COST: '10',
    })
    await until('both workers listen', () => workersOf(server).length === 2)
    const warnings = server.log.filter(({ level }) => level === 40).map(({ msg }) => String(msg))
    assert.ok(warnings.some((warning) => warning.startsWith('PUBLIC_URL is not https.')))
    assert.deepEqual(warnings, [...new Set(warnings)])
    const workers = workersOf(server)
    assert.equal(new Set([...workers, server.child.pid]).size, 3)
    // The operating system prefers an idle worker.
    await until('each worker has responded', async () => {
      const requests = Array.from({ length: 20 }, () =>
        server.visitor().get('/readyz', { connection: 'close' }),
      )
      for (const { status } of await Promise.all(requests)) assert.equal(status, 200)
      return new Set(lines(server, 'request').map((line) => line['process.pid'])).size === 2
    })
    const served = new Set(lines(server, 'request').map((line) => Number(line['process.pid'])))
    assert.deepEqual([...served].sort(), workers.sort())
  })

  test('N7 are replaced when they end, with a line in the log, and as often as a start fails', async (t) => {
    const folder = await temporaryFolder(t)
    const flag = join(folder, 'broken')
    const isBroken = `const { existsSync } = await import('node:fs'); if (existsSync('${flag}')) process.exit(3)`
    const server = await startWorkers(t, { NODE_OPTIONS: inWorkers(isBroken) })
    await until('both workers listen', () => workersOf(server).length === 2)
    await writeFile(flag, '')
    const [first = 0] = workersOf(server)
    process.kill(first, 'SIGKILL')
    const { worker, signal, 'process.pid': pid } = await server.says('a worker has ended')
    assert.deepEqual([worker, signal, pid], [first, 'SIGKILL', server.child.pid])
    await until('two starts have failed', () => lines(server, 'a worker has ended').length === 3)
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)
    await rm(flag)
    await until('a new worker listens', () => workersOf(server).length === 3)
  })

  test('N6 finish accepted requests on SIGTERM, and then the primary exits with 0', async (t) => {
    const server = await startWorkers(t, { DRAIN_SECONDS: '1' })
    await until('both workers listen', () => workersOf(server).length === 2)
    const body = JSON.stringify(registration('Ada'))
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    }
    const signUps = [1, 2].map(() =>
      server.visitor().open('POST', '/users', { ...headers, connection: 'close' }),
    )
    await Promise.all(signUps.map(({ begun }) => begun))

    server.child.kill('SIGTERM')
    await until('all processes are stopping', () => lines(server, 'stopping').length === 3)
    const answers = await Promise.all(signUps.map(({ end }) => end(body)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409])
    const { code, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(lines(server, 'stopped').length, 3)
    assert.deepEqual(
      [server.log.at(-1)?.msg, server.log.at(-1)?.['process.pid']],
      ['stopped', server.child.pid],
    )
  })

  test('N6 stop gracefully on a signal to all processes, and immediately on a later one', async (t) => {
    const server = await startWorkers(t, { DRAIN_SECONDS: '600' })
    await until('both workers listen', () => workersOf(server).length === 2)
    for (const pid of [...workersOf(server), Number(server.child.pid)]) process.kill(pid, 'SIGINT')
    await until('all processes are stopping', () => lines(server, 'stopping').length === 3)
    assert.equal((await server.visitor().get('/healthz')).status, 200)
    assert.equal((await server.visitor().get('/readyz')).status, 503)
    const signals = setInterval(() => server.child.kill('SIGINT'), 50)
    // The output closes when the last worker has ended.
    const { code } = await server.ended
    clearInterval(signals)
    assert.deepEqual([code, lines(server, 'stopped').length], [1, 0])
  })

  test('end the primary with exit code 1, without a retry, if the first worker fails to start', async (t) => {
    const variables = {
      DATA_DIR: await temporaryFolder(t),
      WORKERS: '2',
      NODE_OPTIONS: inWorkers("throw new Error('a bug at the start')"),
    }
    const { code, stdout, stderr } = await runServer(t, variables).ended
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(stderr.match(/^Error: a bug at the start$/gm)?.length, 1)
  })

  test('report a startup problem only once', async (t) => {
    const otherServer = createServer().listen(0, '127.0.0.1')
    await once(otherServer, 'listening')
    t.after(() => otherServer.close())
    const PORT = String((otherServer.address() as AddressInfo).port)
    const wrong: [Record<string, string>, RegExp][] = [
      [{ PORT }, new RegExp(`^bind EADDRINUSE.*${PORT}\\. Set another PORT`)],
      [
        { DATABASE_URL: 'sqlite:/dev/null/site.sqlite' },
        /^The database \/dev\/null\/site\.sqlite cannot be used: [A-Z_]+\. .+\.$/,
      ],
    ]
    for (const [variables, line] of wrong) {
      const DATA_DIR = await temporaryFolder(t)
      const ending = await runServer(t, { DATA_DIR, WORKERS: '2', ...variables }).ended
      assert.match(oneLine(ending), line)
    }
  })
})

function oneLine({ code, stdout, stderr }: ProcessResult): string {
  assert.deepEqual([code, stdout], [1, ''], stderr)
  return stderr.trimEnd()
}
