import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/proof.md'), 'utf8')

/** A row of a table, by its cells. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Ids? |---)/.test(line))
  .map((line) =>
    line
      .slice(2, -2)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll(/\\(?=[|<])/g, '')),
  )
const contents = rows.filter((cells) => /^\d+$/.test(cells[2] ?? ''))
const proofs = rows.filter((cells) => !contents.includes(cells))

describe('docs/proof.md', () => {
  test('has every id of its contents once and in order, and no other', () => {
    const expected = contents.flatMap(([group, , count]) =>
      Array.from({ length: Number(count) }, (_, i) => `${group}-${i + 1}`),
    )
    assert.ok(expected.length > 200, 'the contents can be read')
    assert.deepEqual(
      proofs.map(([id]) => id),
      expected,
    )
  })

  test('says of each row what it is about, in three cells, and says it once in its table', () => {
    for (const cells of proofs)
      assert.deepEqual([cells.length, cells[1] !== ''], [3, true], cells.join(' | '))
    const said = proofs.map(([id = '', quotation]) => `${id.replace(/\d+$/, '')} ${quotation}`)
    assert.deepEqual(
      said.filter((each, i) => said.indexOf(each) !== i),
      [],
    )
  })

  test('names at least one test for each row, none of them twice, and every one of them exists', () => {
    const known = new Map<string, Set<string>>()
    const missing: string[] = []
    for (const [id, , shownBy = ''] of proofs) {
      const named = shownBy.split('<br>')
      assert.equal(new Set(named).size, named.length, `${id} names a test twice`)
      for (const each of named) {
        const [, file = '', target, name = ''] = /^\[([^\]]+)\]\(\.\.\/([^)]+)\): (.+)$/.exec(each) ?? []
        assert.equal(file, target, `${id}: ${each}`)
        const names = known.get(file) ?? namesIn(file)
        known.set(file, names)
        if (!names.has(name)) missing.push(`${id}: ${file} has no test “${name}”`)
      }
    }
    assert.deepEqual(missing, [])
  })
})

/** The full names of the tests in a file, as they stand in the source: of one in a loop, with its placeholders. */
function namesIn(file: string): Set<string> {
  const path = join(root, file)
  if (!/\.(test|spec)\.ts$/.test(file) || !existsSync(path)) return new Set()
  const calls =
    /^( *)(describe|test)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm
  const names = new Set<string>()
  let group = ''
  for (const [, indent, call, single, double, template] of readFileSync(path, 'utf8').matchAll(calls)) {
    const title = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1')
    if (call === 'describe') group = `${title} › `
    else names.add(indent === '' ? title : group + title)
  }
  return names
}
