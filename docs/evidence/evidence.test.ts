import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')

describe('the promises and the specification', () => {
  it('have a test for each id, by the ids at the begin of test titles', () => {
    const rows = globSync('docs/evidence/{promises,specification}.md', { cwd: root }).flatMap((page) => [
      ...read(page).matchAll(/\*\*([A-Z]\d+)\*\* (.+)/g),
    ])
    const kept = rows.filter(([, , text = '']) => !/Not (met|applicable)/.test(text)).map(([, id = '']) => id)
    const files = globSync(['{src,docs,examples}/**/*.test.ts', 'e2e/*.spec.ts'], { cwd: root })
    const tested = new Set(files.flatMap((file) => idsIn(read(file))))

    assert.ok(kept.length > 250)
    assert.deepEqual(
      kept.filter((id) => !tested.has(id)),
      [],
      'without a test',
    )
    const known = new Set(rows.map(([, id = '']) => id))
    assert.deepEqual(
      [...tested].filter((id) => !known.has(id)),
      [],
      'in a title, but in no document',
    )
  })
})

/** The ids at the begin of the titles of tests and groups. */
function idsIn(source: string): string[] {
  const titles = source.matchAll(/\b(?:describe|it|test)(?:\.\w+)*\(\s*['"`]((?:[A-Z]\d+ )+)/g)
  return [...titles].flatMap(([, ids = '']) => ids.trim().split(' '))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
