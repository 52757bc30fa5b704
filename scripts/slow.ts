import { runGroups } from './test-groups.ts'

// Runs the slow tests. The groups take about the same time.
const hasPassed = await runGroups([
  { files: ['src/features/**/*.slow.test.ts'] },
  { files: ['src/auth/mikro-orm/**/*.slow.test.ts'] },
  { files: ['src/{commands/user,database,site,throttle,users}/**/*.slow.test.ts'] },
  {
    files: [
      '{docs,examples}/**/*.slow.test.ts',
      'src/auth/{,jwt/}*.slow.test.ts',
      'src/{http,log,mail}/**/*.slow.test.ts',
      'src/commands/{,workers/}*.slow.test.ts',
      'src/*.slow.test.ts',
    ],
    isIsolated: true,
  },
])
process.exitCode = hasPassed ? 0 : 1
