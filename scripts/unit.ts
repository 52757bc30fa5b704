import { runGroups } from './test-groups.ts'

// Runs the quick tests: all except *.slow.test.ts and *.faults.test.ts. The groups take about the same time.
const hasPassed = await runGroups([
  { files: ['src/{auth,features/[a-c]*}/**/!(*.slow|*.faults).test.ts'] },
  { files: ['src/features/[d-z]*/**/!(*.slow|*.faults).test.ts', 'src/features/*.test.ts'] },
  {
    files: [
      'src/{commands,config,database,http,log,mail,site,testing,throttle,users}/**/!(*.slow|*.faults).test.ts',
      'docs/!(*.slow).test.ts',
    ],
  },
])
process.exitCode = hasPassed ? 0 : 1
