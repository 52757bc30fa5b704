import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

// Runs the quick tests in three processes, each with many files: a process for each file would load MikroORM a hundred times.
const groups = [
  ['src/auth/**/!(*.slow|*.faults).test.ts'],
  ['src/features/**/!(*.slow|*.faults).test.ts', 'src/!(*.slow).test.ts'],
  [
    'src/{commands,config,database,http,log,site,testing,throttle,users}/**/!(*.slow|*.faults).test.ts',
    'docs/!(*.slow).test.ts',
  ],
]
const options = [
  '--conditions=@koa-authenticators/source',
  '--import=./src/testing/compile-cache.ts',
  '--test',
  '--test-isolation=none',
  '--test-timeout=300000',
]

const results = await Promise.all(groups.map(runGroup))
process.exitCode = results.every(Boolean) ? 0 : 1

async function runGroup(patterns: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [...options, ...patterns], { stdio: ['ignore', 'pipe', 'inherit'] })
  const output = text(child.stdout)
  const [code] = await once(child, 'exit')
  process.stdout.write(await output)
  return code === 0
}
