import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPostgres } from './postgres-server.ts'

// Runs the tests of the database on PostgreSQL, or only the test files in the arguments. Uses the server at
// TEST_DATABASE_URL, whose user must be able to create databases, or starts a temporary one.
const suites = [
  'src/{commands,database,features,http,site,testing,throttle,users}/**/!(*.faults).test.ts',
  'src/purge.test.ts',
  'src/auth/mikro-orm/{differential/*,postgres}.test.ts',
  'src/database/postgres/lost-connections.faults.test.ts',
  'src/database/two-processes.faults.test.ts',
]
const options = [
  '--conditions=@koa-authenticators/source',
  '--import=./src/testing/compile-cache.ts',
  '--test',
  '--test-timeout=300000',
]

const named = process.argv.slice(2)
const given = process.env.TEST_DATABASE_URL
const server = given ? undefined : await startPostgres()
const tests = spawn(
  process.execPath,
  [...options, '--test-concurrency=3', ...(named.length > 0 ? named : suites)],
  { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: given ?? server?.url } },
)
// The server stops after the tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
const [code] = await once(tests, 'exit')
await server?.stop()
process.exitCode = code ?? 1
