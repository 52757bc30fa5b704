import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/deploy.md') + read('docs/deploy-several.md') + read('docs/operations.md')

describe('docs/deploy.md and docs/operations.md', () => {
  it('names only commands that exist', () => {
    const { scripts } = JSON.parse(read('package.json'))
    for (const name of namesIn(page, /npm run (?:-s )?([a-z:-]+)/g)) assert.ok(name in scripts, name)
    for (const name of namesIn(page, /node src\/start\.js ([a-z/-]+)/g))
      assert.ok(existsSync(join(root, `src/${name}.ts`)), name)
  })

  it('lists under “Monitoring” only lines that the site logs', () => {
    const code = globSync('src/**/!(*.test).ts', { cwd: root }).map(read).join('\n')
    const lines = namesIn(
      read('docs/operations.md').split('## Metrics')[0] ?? '',
      /^\| (?:a `code` of )?`([^`]+)` /gm,
    )
    assert.ok(lines.length > 10)
    for (const line of lines.filter((each) => !/^(msg|GET .*)$/.test(each)))
      assert.ok(code.includes(`'${line}'`), `nothing logs "${line}"`)
  })
})

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name)
}
