import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { progressOf } from './progress.ts'

describe('progressOf', () => {
  test('reports every five seconds, with the time that is left at the present speed', () => {
    let time = 0
    const lines: string[] = []
    const onRows = progressOf(
      10_000,
      (line) => lines.push(line),
      () => time,
    )
    for (const [at, rows] of [
      [1_000, 100],
      [5_000, 900],
      [6_000, 100],
      [10_000, 900],
    ] as const) {
      time = at
      onRows(rows)
    }
    assert.deepEqual(lines, [
      '1000 of 10000 rows, about 45 seconds left',
      '2000 of 10000 rows, about 40 seconds left',
    ])
  })
})
