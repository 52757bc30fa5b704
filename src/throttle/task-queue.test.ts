import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskQueue } from './task-queue.ts'

describe('TaskQueue', () => {
  it('runs one task at a time, in order', async () => {
    const queue = new TaskQueue()
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const started: number[] = []
    const tasks = gates.map((gate, i) =>
      queue.run(async () => {
        started.push(i)
        await gate.promise
        return i
      }),
    )
    await Promise.resolve()
    assert.deepEqual(started, [0])
    for (const gate of gates) gate.resolve()
    assert.deepEqual(
      [await Promise.all(tasks), started],
      [
        [0, 1],
        [0, 1],
      ],
    )
  })

  it('fails all waiting tasks with the error of a failed one, and runs tasks that are added later', async () => {
    const queue = new TaskQueue()
    const fail = () => Promise.reject(new Error('The database is down.'))
    const waiting = [queue.run(fail), queue.run(async () => assert.fail('must not run'))]
    for (const task of waiting) await assert.rejects(task, /down/)
    assert.equal(await queue.run(async () => 'back'), 'back')
  })
})
