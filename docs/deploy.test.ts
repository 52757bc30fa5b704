import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { longestFinish } from '../src/commands/workers/primary.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const [dockerfile, ignored, compose] = [read('Dockerfile'), read('.dockerignore'), read('compose.yaml')]
const [caddyfile, unit] = [read('deploy/Caddyfile'), read('deploy/koa-authenticators.service')]
const page = read('docs/deploy.md')
const { engines, scripts } = JSON.parse(read('package.json'))
const explained = new Set(matches(read('.env.example'), /^#?([A-Z][A-Z_]*)=/gm))

/** What the first group of a pattern finds in a text. */
function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}

/** The files of the site itself, by their paths. */
const sources = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) =>
    !/\.test\.ts$|\/dist\/|\/node_modules\//.test(file) && !/^src\/(faults|promises|testing)\//.test(file),
)

describe('what the site is deployed with', () => {
  test('sets only variables that .env.example explains, which are those that are read', () => {
    const known = sources.flatMap((file) =>
      matches(read(file), /\benvironment\.(?:read|text|list)\(\s*'([A-Z_]+)'/g),
    )
    assert.deepEqual([...explained].sort(), [...new Set(known)].sort())

    const set = [
      ...matches(dockerfile, /([A-Z_]+)=/g),
      ...matches(compose, /\$\{([A-Z_]+)/g),
      ...matches(compose, /^ {6}([A-Z_]+):/gm),
      ...matches(caddyfile, /\{\$([A-Z_]+)\}/g),
      ...matches(unit, /^Environment=([A-Z_]+)=/gm),
      ...matches(page, /\b([A-Z]+_[A-Z_]+)\b/g),
    ].filter((name) => !/^(POSTGRES|PASSWORD_HASH)_[A-Z]+$/.test(name))
    assert.ok(set.length > 30)
    assert.deepEqual(
      set.filter((name) => !explained.has(name)),
      [],
    )
  })

  test('starts the site as npm start does, on a Node that is new enough', () => {
    const [words = ''] = matches(dockerfile, /^CMD (\[.*\])$/gm)
    const [line] = matches(unit, /^ExecStart=\/usr\/bin\/(.*)$/gm)
    assert.deepEqual([JSON.parse(words).join(' '), line], [scripts.start, scripts.start])
    const [major] = matches(engines.node, /^>=(\d+)$/g)
    assert.deepEqual(matches(dockerfile, /^FROM node:(\d+)-slim$/gm), [major])
    assert.match(page, new RegExp(`a Node\\s+${major} in`))
  })

  test('waits for the end of a site that drains, and finishes what it has accepted', () => {
    const [drain] = matches(unit, /^Environment=DRAIN_SECONDS=(\d+)$/gm)
    const [composeDrain] = matches(compose, /DRAIN_SECONDS: '(\d+)'/g)
    const longest = longestFinish / 1000
    const site = compose.slice(compose.indexOf('\n  site:'), compose.indexOf('\n  database:'))
    const [grace] = matches(site, /stop_grace_period: (\d+)s/g)
    assert.ok(Number(matches(unit, /^TimeoutStopSec=(\d+)$/gm)[0]) >= Number(drain) + longest + 5)
    assert.ok(Number(grace) >= Number(composeDrain) + longest + 5)
  })

  test('finds the site where it listens', () => {
    const [port] = matches(read('.env.example'), /^#PORT=(\d+)$/gm)
    assert.deepEqual(matches(caddyfile, /reverse_proxy site:(\d+)/g), [port])
    assert.deepEqual(matches(dockerfile, /^EXPOSE (\d+)$/gm), [port])
    assert.match(dockerfile, new RegExp(`process\\.env\\.PORT \\|\\| ${port}\\}/readyz`))
    assert.doesNotMatch(compose, /\t/)
  })
})

describe('the image', () => {
  const copied = matches(dockerfile, /^COPY (.+) \S+$/gm).flatMap((files) => files.split(' '))

  test('is made of what is there, and of what Docker is allowed to see', () => {
    const allowed = matches(ignored, /^!(.+)$/gm)
    for (const file of copied) {
      assert.ok(existsSync(join(root, file)), file)
      assert.ok(allowed.includes(file.split('/')[0] ?? ''), file)
    }
    assert.match(ignored, /^\*$/m)
  })

  test('lacks nothing that the site imports', () => {
    for (const file of sources)
      for (const name of matches(read(file), /\bfrom '(\.[^']+)'/g)) {
        const path = join(dirname(file), name)
        assert.ok(sources.includes(path), `${file} imports ${path}`)
      }
  })
})

describe('docs/deploy.md', () => {
  test('names files, commands and lines of the log that exist', () => {
    for (const file of matches(page, /\]\(([^)#]+)\)/g)) assert.ok(existsSync(join(root, 'docs', file)), file)
    for (const name of matches(page, /npm run (?:-s )?([a-z-]+)/g)) assert.ok(name in scripts, name)
    const code = sources.map(read).join('\n')
    const lines = matches(page.slice(page.indexOf('## What to watch')), /^\| (?:a `code` of )?`([^`]+)` /gm)
    assert.ok(lines.length > 10)
    for (const line of lines.filter((each) => !/^(msg|GET .*)$/.test(each)))
      assert.ok(code.includes(`'${line}'`), `nothing logs "${line}"`)
  })

  test('is where README and the files themselves send their readers', () => {
    for (const text of [read('README.md'), dockerfile, compose, unit]) assert.match(text, /docs\/deploy\.md/)
  })
})
