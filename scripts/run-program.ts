import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** How many tests passed, failed and were skipped, and the files and titles of those that failed. */
export interface Results {
  pass: number
  fail: number
  skipped: number
  failed: string[]
}

// Our reporter prints "# pass 12", and Playwright "  12 passed (1.0m)".
const counted = [
  /^# (?<name>pass|fail|skipped) (?<count>\d+)$/,
  /^ {2}(?<count>\d+) (?<name>pass|fail|skipped)/,
]
// Our reporter prints "✖ file: title", and Playwright "  ✘  1 [quick] › file:1:2 › title (1.0s)".
const failedTest = /^ *(?:✖|✘ +\d+) (?<test>.+)/

/** Runs a program that tests, and prints its output. A failure without a failed test counts as one. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env = process.env,
): Promise<Results> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = () => child.kill()
  process.once('SIGTERM', stop).once('SIGINT', stop)
  const ended = once(child, 'close')
  const results: Results = { pass: 0, fail: 0, skipped: 0, failed: [] }
  for await (const line of createInterface(child.stdout)) {
    const { name, count } = counted.map((each) => each.exec(line)?.groups).find(Boolean) ?? {}
    if (name === 'pass' || name === 'fail' || name === 'skipped') results[name] += Number(count)
    const test = failedTest.exec(line)?.groups?.test
    if (test) results.failed.push(test)
    if (!line.startsWith('# ')) console.log(line)
  }
  const [code] = await ended
  process.off('SIGTERM', stop).off('SIGINT', stop)
  if (code !== 0 && results.fail === 0) {
    results.fail++
    results.failed.push(`${program} ${args.join(' ')}: ended with ${code}`)
  }
  return results
}

export function sum(each: readonly Results[]): Results {
  const total: Results = { pass: 0, fail: 0, skipped: 0, failed: [] }
  for (const { pass, fail, skipped, failed } of each) {
    total.pass += pass
    total.fail += fail
    total.skipped += skipped
    total.failed.push(...failed)
  }
  return total
}
