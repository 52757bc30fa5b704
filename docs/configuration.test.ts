import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseEnv } from 'node:util'
import { readConfig } from '../src/config/config.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('docs/configuration.md', () => {
  it('has a row for each variable of .env.example', () => {
    const rows = namesIn('docs/configuration.md', /^\| `([A-Z_]+)` \|/gm)
    const variables = namesIn('.env.example', /^#?([A-Z][A-Z_]*)=/gm)
    assert.deepEqual(rows, variables)
  })

  it('and .env.example have every variable that the site reads', () => {
    const sources = globSync('src/config/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
    const read = sources.flatMap((file) =>
      namesIn(file, /\benvironment\.(?:read|text|list)\(\s*'([A-Z_]+)'/g),
    )
    assert.deepEqual([...new Set(read)].sort(), namesIn('.env.example', /^#?([A-Z][A-Z_]*)=/gm))
  })
})

const template = read('.env.example').replaceAll(/^#(?=[A-Z_]+=)/gm, '')
const blocks = globSync('{*.md,docs/*.md,src/auth/*.md}', { cwd: root })
  .flatMap((file) => [...read(file).matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block = '']) => block))
  .filter((block) => Object.keys(parseEnv(block)).some((name) => name in parseEnv(template)))

describe('examples of .env', () => {
  it('have the values that a reader sees', () => {
    assert.ok(blocks.length >= 2)
    for (const example of [template, ...blocks]) {
      const values = parseEnv(example)
      for (const [, name = '', text = ''] of example.matchAll(/^([A-Z_]+)=(.*?)(?:\s+#.*)?$/gm))
        assert.equal(values[name], text.replace(/^(["'])(.*)\1$/, '$2'), name)
    }
  })

  it('are valid', (t) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rmSync(DATA_DIR, { recursive: true }))
    const example = read('docs/customize.md').match(/^BRAND_COLOR=.*$/m)?.[0] ?? assert.fail()
    // These have no example that works.
    const { JWT_SECRET, SECRETS_KEY, JWT_KEYS, PROVIDERS, ...values } = parseEnv(template)
    for (const each of [values, { ...values, ...parseEnv(example) }])
      assert.ok(readConfig({ ...each, DATA_DIR }).brandColor)
  })
})

function namesIn(file: string, pattern: RegExp): string[] {
  return [...new Set([...read(file).matchAll(pattern)].map(([, name = '']) => name))].sort()
}
