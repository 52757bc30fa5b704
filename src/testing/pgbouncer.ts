import { accessSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { changeOwner, start } from './postgres-programs.ts'
import { temporaryFolder } from './server-process.ts'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(isFile)

/** Options of a test that is skipped without PgBouncer, with the reason. */
export const onlyWithPgBouncer: { skip: string | false } = {
  skip: program === undefined && 'PgBouncer is not installed',
}

/** Starts PgBouncer in front of a database. Returns the URL of the database behind it, at a Unix socket. */
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
  const settings = `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
pool_mode = ${mode}
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
default_pool_size = 5
`
  await writeFile(file, settings)
  const child = start(program ?? '', [file])
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

function isFile(path: string): boolean {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}
