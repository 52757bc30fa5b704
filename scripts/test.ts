import { globSync } from 'node:fs'
import { runFiles, runOnPostgres } from './run-files.ts'
import { type Results, runProgram, sum } from './run-program.ts'

// Runs the steps in the arguments one after the other: `node scripts/test.ts types lint unit`.

const packageTest = 'src/auth/package.test.ts'
// The tests whose SQL, locks or driver differ between the databases.
const postgres = find(
  'src/auth/mikro-orm/{,prepared/}postgres.test.ts',
  'src/database/**/!(*.slow|*.faults).test.ts',
  'src/account/sessions/session-store.test.ts',
  'src/{mail/outbox,site/database-unavailable,throttle/throttle}.test.ts',
  'src/users/{one-time-tokens,user-token}.test.ts',
)
const steps: Record<string, () => Promise<Results>> = {
  types: () => runScript('types'),
  lint: () => runScript('lint'),
  unit: () => runFiles(find('{src,docs}/**/!(*.slow|*.faults|package).test.ts')),
  package: () => runFiles([packageTest]),
  postgres: () => runOnPostgres(postgres),
  browser: () => runScript('e2e', '--project=quick'),
  slow: () => runFiles(find('{src,docs,examples}/**/*.slow.test.ts')),
  'postgres-slow': () => runOnPostgres(postgresSlow()),
  'browser-slow': () => runScript('e2e', '--project=slow', '--project=back-forward-cache'),
  faults: () => runFiles(find('src/**/*.faults.test.ts'), { isIsolated: true }),
  'postgres-faults': () => runOnPostgres(postgresFaults(), { isIsolated: true }),
  equivalence: () => runScript('equivalence'),
}

const results: Results[] = []
for (const name of process.argv.slice(2)) {
  const start = performance.now()
  const counts = await steps[name]?.()
  if (!counts) throw new Error(`There is no step ${name}.`)
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(
    `${counts.fail === 0 ? '✔' : '✖'} ${name}: ${counts.pass} passed, ${counts.fail} failed (${seconds} s)`,
  )
  results.push(counts)
}
const { failed, ...total } = sum(results)
// A log that is cut shows only its end.
for (const test of failed) console.log(`✖ ${test}`)
for (const [name, count] of Object.entries(total)) console.log(`# ${name} ${count}`)
process.exitCode = total.fail === 0 ? 0 : 1

/** The other tests that use a database, except for those that execute the same statements. */
function postgresSlow(): string[] {
  const same =
    'after-sign-in|confirm|device-name|home|limits|notify|parse-registration|problems|secret-box|totp|verified-only'
  return find(
    `src/{account,features}/**/!(*.slow|*.faults|${same}).test.ts`,
    'src/features/{change-email,metrics,sessions}/*.slow.test.ts',
    'src/account/activity/audit-trail.slow.test.ts',
    'src/features/second-factor/{earlier-access,guessing-codes}.slow.test.ts',
    'src/{commands/copy-database,site/hostile-text,throttle/guessing,database/postgres/*}.slow.test.ts',
    'src/users/user.test.ts',
  ).filter((file) => !postgres.includes(file))
}

function postgresFaults(): string[] {
  return find(
    'src/database/{killed,migrating,two-processes,postgres/lost-connections}.faults.test.ts',
    'src/{commands/workers/workers,mail/outbox-processes}.faults.test.ts',
  )
}

/** Runs a script of package.json, if it exists. */
function runScript(name: string, ...args: string[]): Promise<Results> {
  return runProgram('npm', ['run', '--silent', '--if-present', name, '--', ...args])
}

function find(...patterns: string[]): string[] {
  return globSync(patterns).sort()
}
