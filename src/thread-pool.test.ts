import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { describe, test } from 'node:test'
import { yieldThreadPool } from './thread-pool.ts'

const onlyLinux = { skip: process.platform !== 'linux' && 'only Linux has priorities of threads' }

describe('yieldThreadPool', () => {
  test('has the threads that hash give way, and no other', onlyLinux, async () => {
    await stat('.')
    const own = getPriority()
    const yielding = readdirSync('/proc/self/task').filter((thread) => nameOf(thread) === 'libuv-worker')
    assert.ok(yielding.length > 0)
    assert.equal(yieldThreadPool(), yielding.length)
    for (const thread of readdirSync('/proc/self/task')) {
      const expected = yielding.includes(thread) ? Math.min(own + 10, 19) : own
      assert.equal(niceness(thread), expected, nameOf(thread))
    }
  })
})

function nameOf(thread: string): string {
  return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim()
}

// The nineteenth field; the second one, in parentheses, may have spaces in it.
function niceness(thread: string): number {
  const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return Number(fields[16])
}
