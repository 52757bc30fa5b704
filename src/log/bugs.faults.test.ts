import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { until } from '../testing/faults/until.ts'
import { assertStatuses, isSuccess, userRequests } from '../testing/faults/user-requests.ts'
import { NamedPipe } from '../testing/named-pipe.ts'
import { runServer, startServer, temporaryFolder } from '../testing/server-process.ts'
import { Visitor } from '../testing/visitor.ts'

/** A Node option that runs code when the process receives a signal. */
function bug(signal: string, code: string): string {
  const program = `process.once('${signal}', () => { ${code} })`
  return `--import=data:text/javascript,${encodeURIComponent(program)}`
}

describe('an uncaught exception', () => {
  test('N7 is logged, and ends the process with exit code 1, as does an unhandled rejection', async (t) => {
    const endings = ["throw new Error('out of the blue')", "Promise.reject(new Error('out of the blue'))"]
    for (const code of endings) {
      const NODE_OPTIONS = bug('SIGUSR2', code)
      const server = await startServer(t, { DATA_DIR: await temporaryFolder(t), NODE_OPTIONS })
      server.child.kill('SIGUSR2')
      const { code: exitCode, stderr } = await server.ended
      const last = server.log.at(-1)
      assert.deepEqual([exitCode, stderr], [1, ''], code)
      assert.deepEqual(
        [last?.level, last?.msg, last?.error],
        [60, 'uncaught exception: the process exits', 'Error'],
      )
      assert.match(String(last?.stack), /out of the blue/)
    }
  })
})

describe('the log', { concurrency: true }, () => {
  test('can lose its reader without stopping the server', async (t) => {
    const child = spawn(process.execPath, ['src/start.js', 'testing/patient-server'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { NODE_ENV: 'test', DATA_DIR: await temporaryFolder(t), PORT: '0', BCRYPT_COST: '4' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    let url = ''
    for await (const line of createInterface(child.stdout)) {
      url = urlIn(line)
      if (url !== '') break
    }
    child.stdout.destroy()
    const secrets = new Set<string>()
    const visitor = (session?: string) => new Visitor({ url, secrets }, session)
    const { open, reading, writing } = await userRequests({ visitor })
    await assertStatuses(isSuccess, open, reading, writing)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  test('N8 blocks no request if its reader stalls', async (t) => {
    const folder = await temporaryFolder(t)
    const pipe = new NamedPipe(folder)
    t.after(() => pipe.close())
    const shell = ['-c', `exec "${process.execPath}" "$@" > "${pipe.path}"`, 'sh']
    runServer(t, { DATA_DIR: folder }, { node: 'sh', options: shell, isPatient: true })
    let lines = ''
    await until('the server listens', () => {
      lines += pipe.read()
      return urlIn(lines) !== ''
    })
    const secrets = new Set<string>()
    const visitor = (session?: string) => new Visitor({ url: urlIn(lines), secrets }, session)
    // The log lines of these requests exceed the buffer of a pipe.
    for (let i = 0; i < 500; i += 1)
      assert.equal((await visitor().get(`/healthz/${'x'.repeat(480)}`)).status, 404)
    const { open, reading, writing } = await userRequests({ visitor })
    await assertStatuses(isSuccess, open, reading, writing)
  })
})

/** The URL in the line `listening`, or an empty text. */
function urlIn(lines: string): string {
  return /"url":"([^"]+)"/.exec(lines)?.[1] ?? ''
}
