import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Commits } from './commits.ts'
import { RowMemory } from './row-memory.ts'

/** A memory of rows whose first column is their key, of a database to which only we write. */
function memoryOfOurs() {
  let hasChanged = false
  const log = {
    hasChanged() {
      const changed = hasChanged
      hasChanged = false
      return changed
    },
    others: () => 0,
  }
  const commits = new Commits(log)
  const memory = new RowMemory({ commits, keys: [{ table: 'people', key: 'id', column: 0 }] })
  let reads = 0
  /** How often it had to be read, of three times that it is asked for. */
  const readsOf = (value: string, key: unknown = value) => {
    reads = 0
    const read = () => {
      reads += 1
      return [key]
    }
    for (let i = 0; i < 3; i += 1) memory.row(value, read)
    return reads
  }
  const updateBy = (key: string, ...keys: unknown[]) =>
    commits.run('People', key, () => {
      hasChanged = true
      return keys
    })
  const update = (...keys: unknown[]) => updateBy('ID', ...keys)
  return { readsOf, update, updateBy }
}

describe('Commits', () => {
  test('know which of 50,000 rows were changed, and of no row that it is the same when there were more', () => {
    const { readsOf, update } = memoryOfOurs()
    readsOf('changed')
    readsOf('the same')
    update('changed')
    assert.deepEqual([readsOf('changed'), readsOf('the same')], [1, 0])
    readsOf('changed later')
    readsOf('not asked for')
    const many = Array.from({ length: 49_998 }, (_, i) => i)
    update('changed later')
    update(...many)
    assert.deepEqual([readsOf('changed later'), readsOf('the same')], [1, 0])
    update('changed later')
    update('one', 'more')
    assert.deepEqual([readsOf('the same'), readsOf('not asked for')], [0, 1])
  })

  test('know of no row that it is the same by a key that is no value', () => {
    const { readsOf, update } = memoryOfOurs()
    readsOf('Ada', Buffer.from('1'))
    update(Buffer.from('1'))
    assert.equal(readsOf('Ada', Buffer.from('1')), 1)
    readsOf('Grace', null)
    update(null)
    assert.equal(readsOf('Grace', null), 1)
  })

  test('know of no row that it is the same when another key says which were changed', () => {
    const { readsOf, updateBy } = memoryOfOurs()
    readsOf('1')
    updateBy('digest', 'of somebody else')
    assert.equal(readsOf('1'), 1)
  })
})
