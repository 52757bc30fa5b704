import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from './debian-programs.ts'
import { until } from './faults/until.ts'
import { freePort } from './free-port.ts'
import { temporaryFolder } from './server-process.ts'

interface Server {
  readonly port: number
  /** The port of the health check, if it is another one. */
  readonly checkPort?: number
}

/** Starts HAProxy with a file of `deploy`, without TLS, on a free port, with these servers on this machine. */
export async function startHAProxy(
  test: { after(run: () => Promise<void>): void },
  file: 'haproxy.cfg' | 'postgres-haproxy.cfg',
  servers: readonly Server[],
) {
  const [folder, port] = [await temporaryFolder(test), await freePort()]
  const socket = join(folder, 'admin.sock')
  const addresses = servers.map(
    ({ port, checkPort }, i) => `\tserver s${i} 127.0.0.1:${port}${checkPort ? ` port ${checkPort}` : ''}\n`,
  )
  const config = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8')
    .replace(/^\tmaxconn \d+$/m, `\tmaxconn 200\n\tstats socket ${socket}`)
    .replace(/^\t(?:user|group) .*\n|^\tbind :80\n|^\thttp-request redirect .*\n/gm, '')
    .replace(/^\tbind .*$/m, `\tbind 127.0.0.1:${port}`)
    .replace(/(^\tserver .*\n)+/m, addresses.join(''))
    // A server on a busy machine can exceed the usual limits. By default, a check takes a second at most.
    .replace(/^(\ttimeout (?:connect|client|server|queue)) \w+$/gm, '$1 600s')
    .replace(/^\ttimeout connect /m, '\ttimeout check 600s\n$&')
  const path = join(folder, 'haproxy.cfg')
  await writeFile(path, config)
  const child = spawn(findProgram('haproxy') ?? '', ['-db', '-f', path], { stdio: 'ignore' })
  test.after(async () => void child.kill('SIGKILL'))

  /** Whether HAProxy sends requests to a server. */
  const isUp = async (index: number) => {
    const client = connect(socket).on('error', () => {})
    client.end('show stat\n')
    const lines = await text(client).catch(() => '')
    const line = lines.split('\n').find((each) => each.split(',')[1] === `s${index}`)
    return line?.split(',')[17] === 'UP'
  }
  await until('HAProxy has found a server', () => {
    if (child.exitCode !== null) throw new Error(`HAProxy has ended with ${child.exitCode}.`)
    return isUp(0)
  })
  return { url: `http://127.0.0.1:${port}`, port, isUp }
}
