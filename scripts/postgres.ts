import { runOnPostgres } from './run-files.ts'

// Runs the test files in the arguments on PostgreSQL. The user of `TEST_DATABASE_URL` must be allowed to create databases.
const { pass, fail } = await runOnPostgres(process.argv.slice(2), { isIsolated: true })
console.log(`# pass ${pass}\n# fail ${fail}`)
process.exitCode = fail === 0 ? 0 : 1
