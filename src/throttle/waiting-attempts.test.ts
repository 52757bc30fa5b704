import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Column } from './allowance.ts'
import { countersOf } from './counter.ts'
import { PendingLimit, TaskQueue } from './waiting-attempts.ts'

function countersBy(by: readonly Column[], account: string) {
  const allowance = { by, limit: 10, within: 60_000, counts: ['failure'] } as const
  const values = { account, network: '192.0.2.1', block: '192.0.2.0/24', device: undefined }
  return countersOf({ action: 'password', allowances: [allowance], values }, { now: 0, isFull: false })
}

function enterAll(pending: PendingLimit, by: readonly Column[], account: string) {
  const entered = Array.from({ length: 300 }, () => pending.enter(countersBy(by, account)))
  return entered.filter((place) => place !== undefined)
}

describe('PendingLimit', () => {
  it('admits a hundred attempts at one account, others at another one, and more when some have ended', () => {
    const pending = new PendingLimit()
    const ada = enterAll(pending, ['account'], 'ada')
    assert.deepEqual([ada.length, enterAll(pending, ['account'], 'bob').length], [100, 100])
    for (const place of ada) place[Symbol.dispose]()
    assert.equal(enterAll(pending, ['account'], 'ada').length, 100)
  })

  it('admits two hundred attempts from one network', () => {
    assert.equal(enterAll(new PendingLimit(), ['network'], 'ada').length, 200)
  })
})

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
