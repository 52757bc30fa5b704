import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problemsWith, rowsOf } from './shown-by.ts'

/** How many there are of each group. */
const contents = rowsOf('proof.md', /^[SC]-[a-z-]+$/)
const proofs = rowsOf('proof.md', /^[SC]-.*\d$/)

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
    const problems = proofs.flatMap(([id, , shownBy = '']) =>
      problemsWith(shownBy).map((problem) => `${id}: ${problem}`),
    )
    assert.deepEqual(problems, [])
  })
})
