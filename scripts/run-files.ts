import { availableParallelism } from 'node:os'
import { memoryFolder } from '../src/testing/memory-folder.ts'
import { startPostgres } from '../src/testing/postgres-server.ts'
import { type Results, runProgram, sum } from './run-program.ts'

// Many tests cause these warnings. The tests of a warning listen to its event, so they do not need the output.
const expectedWarnings = [
  'KOA_AUTH_CROSS_SITE',
  'KOA_AUTH_FIELDS',
  'KOA_AUTH_NEVER_FRESH',
  'KOA_AUTH_NOT_PREPARED',
  'KOA_AUTH_UNGUARDED',
  'PASSWORD_HASH_DAMAGED',
  'PASSWORD_HASH_KEPT',
]
const options = [
  '--conditions=@koa-authenticators/source',
  '--import=./src/testing/compile-cache.ts',
  ...expectedWarnings.map((code) => `--disable-warning=${code}`),
  '--test',
  '--test-reporter=./scripts/reporter.ts',
  // Only a test that hangs meets this limit.
  '--test-timeout=600000',
]

interface Options {
  /** Whether each file has a process of its own. Otherwise files share one, because loading MikroORM takes long. */
  readonly isIsolated?: boolean
  readonly variables?: NodeJS.ProcessEnv
}

/** Runs test files, as many at a time as there are processors, but at most four. */
export async function runFiles(
  files: readonly string[],
  { isIsolated = false, variables }: Options = {},
): Promise<Results> {
  const size = Math.min(availableParallelism(), 4, files.length)
  const groups = Array.from({ length: size }, (_, i) => files.filter((_, j) => j % size === i))
  // SQLite is faster with files in memory. Isolated tests may run programs, which a file system in memory may forbid.
  const env = { ...process.env, ...(!isIsolated && { TMPDIR: memoryFolder() }), ...variables }
  const isolation = isIsolated ? ['--test-concurrency=1'] : ['--test-isolation=none']
  return sum(
    await Promise.all(
      groups.map((group) => runProgram(process.execPath, [...options, ...isolation, ...group], env)),
    ),
  )
}

/** Runs test files on the PostgreSQL server at `TEST_DATABASE_URL`, or on a temporary one. */
export async function runOnPostgres(files: readonly string[], options?: Options): Promise<Results> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? undefined : await startPostgres()
  try {
    return await runFiles(files, { ...options, variables: { TEST_DATABASE_URL: given ?? server?.url } })
  } finally {
    await server?.stop()
  }
}
