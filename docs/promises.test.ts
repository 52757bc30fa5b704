import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problemsWith, rowsOf } from './shown-by.ts'

// How many there are of each letter.
const letters = {
  A: 8,
  B: 10,
  C: 6,
  D: 12,
  E: 19,
  F: 4,
  G: 6,
  H: 5,
  I: 7,
  J: 12,
  K: 10,
  L: 9,
  M: 6,
  N: 13,
  O: 6,
}
const ids = Object.entries(letters).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`),
)
const rows = rowsOf('promises.md', /^[A-O]\d+$/)

describe('docs/promises.md', () => {
  test('has every promise once and in order, and no other', () => {
    assert.deepEqual(
      rows.map(([id]) => id),
      ids,
    )
  })

  test('says each in one cell, and by what it is shown in another', () => {
    for (const row of rows) assert.deepEqual([row.length, row[1] !== ''], [3, true], row.join(' | '))
  })

  test('names tests that exist, or a reason why there is none', () => {
    const problems = rows.flatMap(([id, , shownBy = '']) =>
      problemsWith(shownBy).map((problem) => `${id}: ${problem}`),
    )
    assert.deepEqual(problems, [])
  })

  test('counts right how many are shown, open and not applicable', () => {
    const having = (reason: string) => rows.filter(([, , shownBy]) => shownBy?.includes(`${reason}: `)).length
    const [open, notApplicable] = [having('open'), having('not applicable')]
    const [counted] = rowsOf('promises.md', /^\d+$/)
    assert.deepEqual(counted?.map(Number), [rows.length - open - notApplicable, open, notApplicable])
  })
})
