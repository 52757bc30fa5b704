import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problemsWith, rowsOf } from './shown-by.ts'

// The levels of the items of each section, in order (OWASP ASVS 5.0.0).
const levels: Record<string, string> = {
  ...{ '3.3': '12223', '3.4': '11222233', '3.5': '11122333', '3.6': '3', '3.7': '22333' },
  ...{
    '6.1': '122',
    '6.2': '111111112222',
    '6.3': '11223333',
    '6.4': '112233',
    '6.5': '22222333',
    '6.6': '2223',
  },
  ...{ '6.7': '33', '6.8': '2222' },
  ...{ '7.1': '222', '7.2': '1111', '7.3': '22', '7.4': '11222', '7.5': '223', '7.6': '22' },
  ...{ '9.1': '111', '9.2': '1222' },
}
const items = Object.entries(levels).flatMap(([section, each]) =>
  [...each].map((level, i) => [`${section}.${i + 1}`, level]),
)
const rows = rowsOf('asvs.md', /^\d\.\d\.\d+$/)

describe('docs/asvs.md', () => {
  test('has every item of V3.3 to V3.7, V6, V7 and V9 once and in order, with its level', () => {
    assert.deepEqual(
      rows.map(([id, level]) => [id, level]),
      items,
    )
  })

  test('says of each what it asks for, how we stand, and why', () => {
    for (const row of rows) {
      const [id, , wording, answer = '', shownBy = ''] = row
      assert.equal(row.length, 5, id)
      assert.notEqual(wording, '', id)
      assert.ok(['met', 'not met', 'not applicable'].includes(answer), `${id}: ${answer}`)
      assert.equal(shownBy.includes('not met: '), answer === 'not met', id)
      assert.equal(shownBy.startsWith('not applicable: '), answer === 'not applicable', id)
    }
  })

  test('names tests that exist, headings of pages of ours, or a reason why there is none', () => {
    const problems = rows.flatMap(([id, , , , shownBy = '']) =>
      problemsWith(shownBy).map((problem) => `${id}: ${problem}`),
    )
    assert.deepEqual(problems, [])
  })

  test('counts right how many are met, not met and not applicable, by level', () => {
    const counted = rowsOf('asvs.md', /^Level \d$/)
    for (const [name = '', ...counts] of counted) {
      const ofLevel = rows.filter(([, level]) => name === `Level ${level}`)
      const having = (answer: string) => ofLevel.filter((row) => row[3] === answer).length
      assert.deepEqual(counts.map(Number), ['met', 'not met', 'not applicable'].map(having), name)
    }
    assert.equal(counted.length, 3)
  })
})
