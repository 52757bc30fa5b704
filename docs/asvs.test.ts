import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

// The levels of the items in each section of OWASP ASVS 5.0.0. Each digit is one level.
const levels: Record<string, string> = {
  ...{ '3.3': '12223', '3.4': '11222233', '3.5': '11122333', '3.6': '3', '3.7': '22333' },
  ...{ '6.1': '122', '6.2': '111111112222', '6.3': '11223333', '6.4': '112233', '6.5': '22222333' },
  ...{ '6.6': '2223', '6.7': '33', '6.8': '2222' },
  ...{ '7.1': '222', '7.2': '1111', '7.3': '22', '7.4': '11222', '7.5': '223', '7.6': '22' },
  ...{ '9.1': '111', '9.2': '1222' },
}
const read = (page: string) => readFileSync(join(import.meta.dirname, page), 'utf8')
const rows = rowsOf('asvs.md', /^\d\.\d\.\d+$/)

describe('docs/asvs.md', () => {
  it('has every item of V3.3 to V3.7, V6, V7 and V9 once and in order, with its level', () => {
    const items = Object.entries(levels).flatMap(([section, each]) =>
      [...each].map((level, i) => [`${section}.${i + 1}`, level]),
    )
    assert.deepEqual(
      rows.map(([id, level]) => [id, level]),
      items,
    )
  })

  it('gives promises or a heading of the security model for each met item, and a reason for the others', () => {
    const promises = read('promises.md')
    const headings = read('security-model.md').toLowerCase().replaceAll(' ', '-')
    for (const [id, , requirement, status, basis = ''] of rows) {
      assert.notEqual(requirement, '', id)
      if (status === 'met') {
        const [, anchor] = /^\[security-model\.md\]\(security-model\.md#([\w-]+)\)$/.exec(basis) ?? []
        if (anchor) assert.ok(headings.includes(`##-${anchor}\n`), `${id}: ${basis}`)
        else
          for (const each of basis.split(' ')) assert.ok(promises.includes(`**${each}**`), `${id}: ${each}`)
      } else {
        assert.ok(status === 'not met' || status === 'not applicable', `${id}: ${status}`)
        assert.match(basis, /^[A-Z`].+\.$/, id)
      }
    }
  })

  it('counts the items by level and status', () => {
    const counted = rowsOf('asvs.md', /^Level \d$/)
    for (const [name = '', ...counts] of counted) {
      const ofLevel = rows.filter(([, level]) => name === `Level ${level}`)
      const withStatus = (status: string) => ofLevel.filter((row) => row[3] === status).length
      assert.deepEqual(counts.map(Number), ['met', 'not met', 'not applicable'].map(withStatus), name)
    }
    assert.equal(counted.length, 3)
  })
})

/** The cells of the table rows whose first cell matches `first`. */
function rowsOf(page: string, first: RegExp): string[][] {
  const lines = read(page).split('\n')
  const cells = lines.filter((line) => line.startsWith('| ')).map((line) => line.slice(2, -2).split(' | '))
  return cells.filter(([cell = '']) => first.test(cell))
}
