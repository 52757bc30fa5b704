import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { connectTo } from './postgres-connection.ts'
import { changeOwner } from './postgres-programs.ts'
import { PostgresServer } from './postgres-server.ts'

/** Starts a standby that replicates a server synchronously: the server confirms no commit that the standby lacks. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const { command, url } = primary.cluster
  const { password, port: primaryPort } = new URL(url)
  const [program, [, data = '', ...flags]] = command
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-standby-'))
  await changeOwner(folder)
  // A copy of a stopped server is a base backup.
  await primary.end('SIGINT')
  await promisify(execFile)('cp', ['-a', data, folder])
  const copy = join(folder, 'data')
  await writeFile(join(copy, 'standby.signal'), '')
  await changeOwner(join(copy, 'standby.signal'))
  await primary.start()

  const port = await freePort()
  const source = `host=127.0.0.1 port=${primaryPort} user=postgres password=${password}`
  const standby = new PostgresServer({
    folders: [folder],
    url: url.replace(`:${primaryPort}/`, `:${port}/`),
    command: [program, ['-D', copy, ...flags, '-c', `port=${port}`, '-c', `primary_conninfo=${source}`]],
  })
  await standby.start()
  const admin = await connectTo(url)
  await admin.execute("alter system set synchronous_standby_names = 'ANY 1 (*)'")
  await admin.execute('select pg_reload_conf()')
  return standby
}
