import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** How many tests passed, failed and were skipped. */
export interface Counts {
  pass: number
  fail: number
  skipped: number
}

// Our reporter prints "# pass 12", and Playwright "  12 passed (1.0m)".
const counted = [
  /^# (?<name>pass|fail|skipped) (?<count>\d+)$/,
  /^ {2}(?<count>\d+) (?<name>pass|fail|skipped)/,
]

/** Runs a program that tests, and prints its output. A failure without a failed test counts as one. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env = process.env,
): Promise<Counts> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = () => child.kill()
  process.once('SIGTERM', stop).once('SIGINT', stop)
  const ended = once(child, 'close')
  const counts = { pass: 0, fail: 0, skipped: 0 }
  for await (const line of createInterface(child.stdout)) {
    const { name, count } = counted.map((each) => each.exec(line)?.groups).find(Boolean) ?? {}
    if (name === 'pass' || name === 'fail' || name === 'skipped') counts[name] += Number(count)
    if (!line.startsWith('# ')) console.log(line)
  }
  const [code] = await ended
  process.off('SIGTERM', stop).off('SIGINT', stop)
  if (code !== 0 && counts.fail === 0) counts.fail++
  return counts
}

export function sum(each: readonly Counts[]): Counts {
  const total = { pass: 0, fail: 0, skipped: 0 }
  for (const { pass, fail, skipped } of each) {
    total.pass += pass
    total.fail += fail
    total.skipped += skipped
  }
  return total
}
