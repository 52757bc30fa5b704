import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from './debian-programs.ts'
import { changeOwner, start } from './postgres-programs.ts'
import { temporaryFolder } from './server-process.ts'

/** Starts PgBouncer with the file of `deploy` in front of a database. Returns the URL of the database behind it, at a Unix socket. */
export async function startPgBouncer(
  test: { after(run: () => Promise<void>): void },
  databaseUrl: string,
  mode: 'transaction' | 'statement',
): Promise<string> {
  const folder = await temporaryFolder(test)
  await changeOwner(folder)
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  const users = join(folder, 'users.txt')
  await writeFile(users, `"${username}" "${password}"\n`)
  const file = join(folder, 'pgbouncer.ini')
  const settings = readFileSync(join(import.meta.dirname, '../../deploy/pgbouncer.ini'), 'utf8')
    .replace(/^site = .*$/m, `* = host=${hostname} port=${port}`)
    .replace(/^listen_addr = .*$/m, `unix_socket_dir = ${folder}`)
    .replace(/^(auth_type) = .*$/m, '$1 = trust')
    .replace(/^(auth_file) = .*$/m, `$1 = ${users}`)
    .replace(/^(pool_mode) = .*$/m, `$1 = ${mode}`)
    .replace(/^(default_pool_size) = .*$/m, '$1 = 5')
  await writeFile(file, settings)
  const child = start(findProgram('pgbouncer') ?? '', [file])
  test.after(async () => void child.kill('SIGKILL'))
  if (!child.stderr) throw new Error('PgBouncer has no pipe for its log.')
  const log: string[] = []
  for await (const line of createInterface(child.stderr)) {
    log.push(line)
    if (line.includes('process up')) {
      child.stderr.resume()
      return `postgres://${username}@${encodeURIComponent(folder)}:6432${pathname}`
    }
  }
  throw new Error(`PgBouncer has ended: ${log.join('\n')}`)
}
