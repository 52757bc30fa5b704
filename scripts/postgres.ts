import { startPostgres } from '../src/testing/postgres-server.ts'
import { runGroups, type TestGroup } from './test-groups.ts'

// Runs the database tests on PostgreSQL, or only the test files in the arguments. Uses the server at TEST_DATABASE_URL,
// where the user must be allowed to create databases, or starts a temporary server.

// The excluded files, except for some slow ones below, test no SQL that differs between the databases.
const quick =
  '!(*.slow|*.faults|confirm|guessing|home|notify|parse-registration|problems|secret-box|totp|verified-only).test.ts'
const suites: readonly TestGroup[] = [
  { files: [`src/features/[a-p]*/**/${quick}`] },
  {
    files: [
      `src/features/[q-z]*/**/${quick}`,
      'src/features/*.test.ts',
      'src/database/{delete-batch,expired-rows,schema,statements-of-requests}.test.ts',
      'src/testing/record-statements.test.ts',
      'src/users/{check-credentials,one-time-tokens,user,user-token}.test.ts',
    ],
  },
  {
    files: [
      // The excluded files compare entities whose rows are the same on both databases.
      'src/auth/mikro-orm/differential/!(classes|embedded|hooks|inheritance|null-columns).slow.test.ts',
      'src/auth/mikro-orm/postgres.test.ts',
      'src/database/postgres/!(*.slow|*.faults).test.ts',
    ],
  },
  // The slow tests whose SQL differs between the databases.
  {
    files: [
      'src/features/{change-email,sessions}/*.slow.test.ts',
      'src/features/activity/audit-trail.slow.test.ts',
      'src/features/second-factor/{earlier-access,guessing-codes}.slow.test.ts',
    ],
  },
  {
    files: [
      'src/{commands/copy-database,site/hostile-text,throttle/guessing}.slow.test.ts',
      'src/database/postgres/*.slow.test.ts',
      'src/{mail/outbox,throttle/throttle,site/database-unavailable}.test.ts',
    ],
  },
]

const named = process.argv.slice(2)
const given = process.env.TEST_DATABASE_URL
const server = given ? undefined : await startPostgres()
const groups = named.length > 0 ? [{ files: named, isIsolated: true }] : suites
const hasPassed = await runGroups(groups, { TEST_DATABASE_URL: given ?? server?.url })
await server?.stop()
process.exitCode = hasPassed ? 0 : 1
