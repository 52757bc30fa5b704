import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const program = join(import.meta.dirname, '../src/testing/list-promises.ts')
const sizes = {
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
  P: 9,
  Q: 10,
  R: 3,
  T: 14,
  U: 13,
}

describe('docs/promises.md', () => {
  it('has each promise in order, with its tier', () => {
    const expected = Object.entries(sizes).flatMap(([letter, size]) =>
      Array.from({ length: size }, (_, i) => `${letter}${i + 1}`),
    )
    assert.deepEqual(idsIn('promises.md', /^- \*\*([A-RTU]\d+)\*\* \(tier [123]\) [A-Z`]/gm), expected)
    assert.deepEqual(idsIn('promises.md', /\*\*(\w+)\*\*/g), expected)
  })

  it('has a test for each promise and for each row of the specification, by the ids in test titles', () => {
    const options = { encoding: 'utf8', timeout: 120_000 } as const
    const { stderr, status } = spawnSync(
      process.execPath,
      ['--conditions=@koa-authenticators/source', '--import=./src/testing/compile-cache.ts', program],
      options,
    )
    assert.equal(stderr, '')
    assert.equal(status, 0)
  })
})

describe('docs/specification.md', () => {
  it('has consecutive ids', () => {
    const ids = [...new Set(idsIn('specification.md', /\*\*(S\d+)\*\*/g))]
    assert.deepEqual(
      ids,
      ids.map((_, i) => `S${i + 1}`),
    )
    assert.ok(ids.length > 90)
  })
})

function idsIn(page: string, pattern: RegExp): string[] {
  const text = readFileSync(join(import.meta.dirname, page), 'utf8')
  return [...text.matchAll(pattern)].map(([, id = '']) => id)
}
