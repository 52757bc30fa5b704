import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TryLater } from '../refusal.ts'
import { HashingSlots } from './hashing-slots.ts'

describe('HashingSlots', () => {
  test('evaluates no more at a time than there are slots, and the others in order', async () => {
    const slots = new HashingSlots({ slots: 2 })
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const started: number[] = []
    const all = gates.map((gate, i) =>
      slots.run(async () => {
        started.push(i)
        await gate.promise
        return i
      }),
    )
    assert.deepEqual(started, [0, 1])
    gates[1]?.resolve()
    await all[1]
    assert.deepEqual(started, [0, 1, 2])
    for (const gate of gates) gate.resolve()
    assert.deepEqual(await Promise.all(all), [0, 1, 2, 3, 4])
  })

  test('refuses at once what finds no place in the queue, and says when to come back', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const all = Array.from({ length: 1 + slots.places }, () => slots.run(() => gate.promise))
    const refusal = await slots.run(() => gate.promise).catch((error: unknown) => error)
    assert.ok(refusal instanceof TryLater)
    assert.deepEqual([refusal.status, refusal.headers], [503, { 'Retry-After': '64' }])
    gate.resolve()
    await Promise.all(all)
    assert.equal(await slots.run(async () => 'free again'), 'free again')
  })

  test('gives its slot back when an evaluation fails', async () => {
    const slots = new HashingSlots({ slots: 1 })
    await assert.rejects(
      slots.run(() => Promise.reject(new Error('broken'))),
      /broken/,
    )
    assert.equal(await slots.run(async () => 'free'), 'free')
  })

  test('has at least 64 places, and otherwise as many as five seconds of work', () => {
    assert.equal(new HashingSlots({ slots: 1, duration: 1000 }).places, 64)
    assert.equal(new HashingSlots({ slots: 4, duration: 50 }).places, 400)
  })
})
