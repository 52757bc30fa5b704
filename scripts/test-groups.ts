import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { memoryFolder } from '../src/testing/memory-folder.ts'

/** A group of test files. */
export interface TestGroup {
  readonly files: readonly string[]
  /** Whether each file has its own process, for tests that change the process or start others. */
  readonly isIsolated?: boolean
}

const options = [
  '--conditions=@koa-authenticators/source',
  '--import=./src/testing/compile-cache.ts',
  '--test',
  '--test-timeout=300000',
]

/** Runs groups in parallel. Loading MikroORM takes long, so the files of a group share a process unless the group is isolated. */
export async function runGroups(
  groups: readonly TestGroup[],
  environment: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  const results = await Promise.all(groups.map((group) => runGroup(group, environment)))
  return results.every(Boolean)
}

async function runGroup({ files, isIsolated }: TestGroup, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const isolation = isIsolated ? '--test-concurrency=4' : '--test-isolation=none'
  // SQLite is faster with files in memory. Isolated tests may run programs from TMPDIR, but the folder in memory may forbid that.
  const folder = isIsolated ? {} : { TMPDIR: memoryFolder() }
  const child = spawn(process.execPath, [...options, isolation, ...files], {
    env: { ...process.env, ...folder, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => child.kill()
  process.once('SIGTERM', stop).once('SIGINT', stop)
  const output = text(child.stdout)
  const [code] = await once(child, 'exit')
  process.stdout.write(await output)
  return code === 0
}
