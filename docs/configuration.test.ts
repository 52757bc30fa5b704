import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

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

function namesIn(file: string, pattern: RegExp): string[] {
  return [...new Set([...read(file).matchAll(pattern)].map(([, name = '']) => name))].sort()
}
