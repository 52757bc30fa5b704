import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { TryLater } from '../refusal.ts'
import { type Applicant, HashingSlots } from './hashing-slots.ts'

function applicant(from: string, isGone = false): Applicant {
  return { from, isKnown: false, hasLeft: () => isGone }
}

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

  test('has a slot for each core, shared among the processes, and one in each at least', () => {
    const cores = availableParallelism()
    const placesOf = (processes: number) => new HashingSlots({ processes, duration: 50 }).places
    assert.deepEqual([placesOf(1), placesOf(cores), placesOf(64 * cores)], [100 * cores, 100, 100])
  })

  test('has networks take turns, so that nobody waits for all of a flood from another', async () => {
    const slots = new HashingSlots({ slots: 1 })
    const order: string[] = []
    const names = ['a', 'a', 'a', 'a', 'b', 'c', 'b']
    await Promise.all(names.map((from) => slots.run(async () => order.push(from), applicant(from))))
    assert.deepEqual(order, ['a', 'a', 'b', 'c', 'a', 'b', 'a'])
  })

  test('has whoever came last from the network that has most in a full queue make room for others', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const from = (network: string) => slots.run(() => gate.promise, applicant(network))
    const flood = Array.from({ length: 1 + slots.places }, (_, i) => from(`network ${i % 8}`))
    const owner = from('hers')
    await assert.rejects(Promise.race(flood), { status: 503 })
    gate.resolve()
    await owner
    const results = await Promise.allSettled(flood)
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
  })

  test('keeps places for known devices, however many networks fill the others', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const from = (network: string, isKnown = false) =>
      slots.run(() => gate.promise, { ...applicant(network), isKnown })
    const flood = Array.from({ length: 1 + slots.places }, (_, i) => from(`network ${i}`))
    await assert.rejects(from('another'), { status: 503 })
    const owner = from('ada', true)
    gate.resolve()
    await Promise.all([owner, ...flood])
  })

  test('hashes nothing for whoever has left, and refuses who has waited for ten seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const slots = new HashingSlots({ slots: 1 })
    const gate = Promise.withResolvers<void>()
    const first = slots.run(() => gate.promise)
    const late = slots.run(() => assert.fail())
    t.mock.timers.tick(10_000)
    await assert.rejects(late, { status: 503 })
    const gone = slots.run(() => assert.fail(), applicant('a', true))
    gate.resolve()
    await first
    await assert.rejects(gone, { status: 400 })
    assert.equal(await slots.run(async () => 'free'), 'free')
  })
})
