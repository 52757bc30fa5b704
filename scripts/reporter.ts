import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** A test reporter: a line for each group of tests that passed, each failed test with its error, and the counts at the end. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { pass: 0, fail: 0, skipped: 0 }
  const titles: string[] = []
  for await (const { type, data } of events) {
    if (type === 'test:start') titles.splice(data.nesting, titles.length, data.name)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { details, nesting, skip } = data
    const file = relative('', data.file ?? '')
    if (type === 'test:fail' && !isOfSubtests(data.details.error)) {
      counts.fail++
      const path = [...titles.slice(0, nesting), data.name].join(' › ')
      yield `✖ ${file}: ${path}\n${inspect(data.details.error.cause)}\n`
    }
    if (type === 'test:pass' && details.type !== 'suite') counts[skip === undefined ? 'pass' : 'skipped']++
    if (type === 'test:pass' && nesting === 0)
      yield `✔ ${file}: ${data.name} (${Math.round(details.duration_ms)} ms)\n`
  }
  for (const [name, count] of Object.entries(counts)) yield `# ${name} ${count}\n`
}

// The failure of a group repeats those of its tests.
function isOfSubtests(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}
