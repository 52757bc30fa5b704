// Lists the tests of each promise (docs/promises.md) and of each row of the specification: `npm run promises -- E6`.
// Exits with 1 if an applicable id has no test, or if a test has an unknown id.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

/** A test: its file, and as `path` the titles of its groups followed by its own title. */
interface Test {
  readonly file: string
  readonly path: readonly string[]
}

/** A suite in the JSON report of `playwright test --list`. */
interface BrowserSuite {
  readonly title: string
  readonly suites?: readonly BrowserSuite[]
  readonly specs: readonly { readonly title: string }[]
}

const root = join(import.meta.dirname, '../..')
const requestedIds = process.argv.slice(2)
const statements = readStatements()
const testsById = groupById([...(await testsOfNode()), ...testsOfBrowser()])
const ids = requestedIds.length > 0 ? requestedIds : [...statements.keys()]
for (const id of ids) {
  console.log(`${id} ${statements.get(id)}`)
  for (const { file, path } of testsById.get(id) ?? []) console.log(`  ${file}: ${path.join(' › ')}`)
}
const missing = ids.filter((id) => !testsById.has(id) && !statements.get(id)?.includes('Not applicable: '))
const unknown = [...testsById.keys()].filter((id) => !statements.has(id))
if (missing.length > 0) console.error(`Without a test: ${missing.join(', ')}`)
if (unknown.length > 0) console.error(`In a test's title, but in no document: ${unknown.join(', ')}`)
process.exit(missing.length + unknown.length > 0 ? 1 : 0)

/** The statements of both documents by id. An id in bold precedes its statement. */
function readStatements(): Map<string, string> {
  const byId = new Map<string, string>()
  for (const document of ['promises.md', 'specification.md']) {
    const text = readFileSync(join(root, 'docs', document), 'utf8')
    for (const [, id = '', statement = ''] of text.matchAll(/\*\*([A-Z]\d+)\*\* (.+)/g))
      if (!byId.has(id)) byId.set(id, statement)
  }
  return byId
}

/** Imports every test file with a test runner that records titles and calls no test. */
async function testsOfNode(): Promise<Test[]> {
  const tests: Test[] = []
  const groups: string[] = []
  let file = ''
  const record = (title: string) => {
    tests.push({ file, path: [...groups, title] })
  }
  const describe = (title: string, ...rest: unknown[]) => {
    groups.push(title)
    const body = rest.at(-1)
    if (typeof body === 'function') body()
    groups.pop()
  }
  const ignore = () => undefined
  const hooks = { before: ignore, after: ignore, beforeEach: ignore, afterEach: ignore }
  const test = Object.assign(record, { skip: ignore, todo: ignore, only: record })
  const suite = Object.assign(describe, { skip: ignore, todo: ignore, only: describe })
  const runner: object = createRequire(import.meta.url)('node:test')
  Object.assign(runner, { test, it: test, describe: suite, suite, ...hooks })
  syncBuiltinESMExports()
  for (const path of globSync('{src,docs,examples}/**/*.test.ts', { cwd: root }).sort()) {
    file = path
    await import(join(root, path))
  }
  return tests
}

function testsOfBrowser(): Test[] {
  const cli = createRequire(import.meta.url).resolve('@playwright/test/cli')
  // Passes the folder instead of the configuration, because the configuration searches for a browser.
  const options = ['test', '--list', '--config=e2e', '--reporter=json']
  const report = execFileSync(process.execPath, [cli, ...options], { cwd: root, encoding: 'utf8' })
  const { suites }: { suites: readonly BrowserSuite[] } = JSON.parse(report)
  return suites.flatMap((each) => testsOfSuite(each, `e2e/${each.title}`, []))
}

function testsOfSuite({ specs, suites = [] }: BrowserSuite, file: string, groups: readonly string[]): Test[] {
  const tests = specs.map(({ title }) => ({ file, path: [...groups, title] }))
  return [...tests, ...suites.flatMap((each) => testsOfSuite(each, file, [...groups, each.title]))]
}

function groupById(tests: readonly Test[]): Map<string, Test[]> {
  const byId = new Map<string, Test[]>()
  for (const test of tests) {
    const ids = test.path.flatMap((title) => /^([A-Z]\d+ )+/.exec(title)?.[0].trim().split(' ') ?? [])
    for (const id of ids) byId.set(id, [...(byId.get(id) ?? []), test])
  }
  return byId
}
