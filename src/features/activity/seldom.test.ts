import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Seldom } from './seldom.ts'

const quarter = 15 * 60_000

describe('Seldom', () => {
  test('is due once in a quarter of an hour', () => {
    let now = 0
    const seldom = new Seldom(quarter, () => now)
    const due = () => seldom.isDue('a')
    assert.deepEqual([due(), due()], [true, false])
    now = quarter - 1
    assert.equal(due(), false)
    now = quarter
    assert.deepEqual([due(), due()], [true, false])
  })

  test('is due only if all of the keys are', () => {
    const seldom = new Seldom(quarter, () => 0)
    assert.deepEqual(
      [seldom.isDue('a', 'b'), seldom.isDue('a', 'c'), seldom.isDue('c', 'b'), seldom.isDue('c', 'd')],
      [true, false, false, true],
    )
  })

  test('D9 remembers at most so much, and what finds no room is not due', () => {
    let now = 0
    const seldom = new Seldom(quarter, () => now)
    const due = Array.from({ length: 20_000 }, (_, i) => seldom.isDue(`${i}`)).filter(Boolean)
    assert.equal(due.length, 10_000)
    assert.equal(seldom.isDue('0'), false, 'nobody can push out what is remembered')
    now = quarter
    assert.equal(seldom.isDue('somebody'), true)
  })

  test('P4 forgets times of a clock that was ahead', () => {
    let now = 400 * 24 * 60 * 60_000
    const seldom = new Seldom(quarter, () => now)
    seldom.isDue('ada')
    now = 0
    assert.equal(seldom.isDue('ada'), true)
  })
})
