import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { TryLater } from '../refusal.ts'
import { HashingSlots } from './hashing-slots.ts'

describe('HashingSlots', () => {
  test('computes one hash per slot at a time, in order of arrival', async () => {
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

  test('D11 rejects a hash immediately with 503 and Retry-After if the queue is full', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const all = Array.from({ length: 1 + slots.capacity }, () => slots.run(() => gate.promise))
    const refusal = await slots.run(() => gate.promise).catch((error: unknown) => error)
    assert.ok(refusal instanceof TryLater)
    assert.deepEqual([refusal.status, refusal.headers], [503, { 'Retry-After': '64' }])
    gate.resolve()
    await Promise.all(all)
    assert.equal(await slots.run(async () => 'free again'), 'free again')
  })

  test('frees the slot when an evaluation fails', async () => {
    const slots = new HashingSlots({ slots: 1 })
    await assert.rejects(
      slots.run(() => Promise.reject(new Error('broken'))),
      /broken/,
    )
    assert.equal(await slots.run(async () => 'free'), 'free')
  })

  test('D11 has a queue for five seconds of work, and for at least 64 hashes', () => {
    assert.equal(new HashingSlots({ slots: 1, duration: 1000 }).capacity, 64)
    assert.equal(new HashingSlots({ slots: 4, duration: 50 }).capacity, 400)
  })

  test('D11 divides the cores among the processes, with at least one slot for each process', () => {
    const cores = availableParallelism()
    const capacityOf = (processes: number) => new HashingSlots({ processes, duration: 50 }).capacity
    assert.deepEqual([capacityOf(1), capacityOf(cores), capacityOf(64 * cores)], [100 * cores, 100, 100])
  })

  test('runs known devices first, and each group in order of arrival', async () => {
    const slots = new HashingSlots({ slots: 1 })
    const order: string[] = []
    const names = ['first', 'unknown 1', 'known 1', 'unknown 2', 'known 2']
    const run = (name: string) =>
      slots.run(async () => order.push(name), { isKnownDevice: name.startsWith('known') })
    await Promise.all(names.map(run))
    assert.deepEqual(order, ['first', 'known 1', 'known 2', 'unknown 1', 'unknown 2'])
  })

  test('replaces the last unknown device in a full queue with a known device', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const run = (isKnownDevice: boolean) => slots.run(() => gate.promise, { isKnownDevice })
    const flood = Array.from({ length: 1 + slots.capacity }, () => run(false))
    await assert.rejects(run(false), { status: 503 })
    const owner = run(true)
    await assert.rejects(flood.at(-1) ?? assert.fail(), { status: 503 })
    gate.resolve()
    await Promise.all([owner, ...flood.slice(0, -1)])
  })

  test('limits the queue for known devices too', async () => {
    const slots = new HashingSlots({ slots: 1, duration: 1000 })
    const gate = Promise.withResolvers<void>()
    const run = () => slots.run(() => gate.promise, { isKnownDevice: true })
    const all = Array.from({ length: 1 + slots.capacity }, run)
    await assert.rejects(run(), { status: 503 })
    gate.resolve()
    await Promise.all(all)
  })

  test('drops a hash after the client has closed the connection, and rejects a request after ten seconds in the queue', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const slots = new HashingSlots({ slots: 1 })
    const gate = Promise.withResolvers<void>()
    const first = slots.run(() => gate.promise)
    const late = slots.run(() => assert.fail())
    t.mock.timers.tick(10_000)
    await assert.rejects(late, { status: 503 })
    const dropped = slots.run(() => assert.fail(), { isDisconnected: () => true })
    gate.resolve()
    await first
    await assert.rejects(dropped, { status: 400 })
    assert.equal(await slots.run(async () => 'free'), 'free')
  })
})
