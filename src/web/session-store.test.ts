import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { count, sql } from '../testing/database.ts'
import { signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { limits, SessionStore } from './session-store.ts'

const second = 1000
const minute = 60 * second
const id = 'i'.repeat(43)
const usual = { isKept: false, userAgent: 'a browser' }

describe('SessionStore', () => {
  test('gives back what was saved, and nothing for what it never saw', async (t) => {
    const { store, user } = await storeWithClock(t)
    await store.start(id, { user, note: { a: [1] }, _expire: 1, _maxAge: 2 }, usual)
    assert.deepEqual(await store.get(id), { user, note: { a: [1] }, _maxAge: limits.usual.absolute })
    for (const other of ['o'.repeat(43), '', id.slice(1), `${id}x`, '__proto__'])
      assert.equal(await store.get(other), undefined, other)
  })

  test('ends a session that is unused for its idle limit, to the millisecond', async (t) => {
    const { store, clock, user, site } = await storeWithClock(t)
    for (const [isKept, { idle }] of [
      [false, limits.usual],
      [true, limits.kept],
    ] as const) {
      await store.start(id, { user }, { ...usual, isKept })
      clock.now += idle - 1
      assert.ok(await store.get(id), 'alive, and used')
      clock.now += idle - 1
      assert.ok(await store.get(id), 'the use counted')
      clock.now += idle
      assert.equal(await store.get(id), undefined)
      assert.equal(await count(site, 'sessions'), 0)
    }
  })

  test('ends a session at its absolute limit, however much it is used', async (t) => {
    const { store, clock, user } = await storeWithClock(t)
    for (const [isKept, { idle, absolute }] of [
      [false, limits.usual],
      [true, limits.kept],
    ] as const) {
      await store.start(id, { user }, { ...usual, isKept })
      const start = clock.now
      for (clock.now += idle - 1; clock.now < start + absolute; clock.now += idle - 1)
        assert.ok(await store.get(id))
      clock.now = start + absolute - 1
      assert.ok(await store.get(id))
      clock.now = start + absolute
      assert.equal(await store.get(id), undefined)
    }
  })

  test('has limits of 2 and 24 hours, and of 14 and 30 days where it is kept', () => {
    const hour = 60 * minute
    const day = 24 * hour
    assert.deepEqual(limits, {
      usual: { idle: 2 * hour, absolute: 24 * hour },
      kept: { idle: 14 * day, absolute: 30 * day },
    })
  })

  test('writes that a session was used at most once a minute', async (t) => {
    const { store, clock, user, site } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    const changes = async () => Number((await sql(site, 'select total_changes() as n'))[0]?.n)
    const before = await changes()
    for (let i = 0; i < 59; i += 1) {
      clock.now += second
      await store.get(id)
    }
    assert.equal(await changes(), before)
    clock.now += second
    for (let i = 0; i < 5; i += 1) await store.get(id)
    assert.equal(await changes(), before + 1)
  })

  test('starts no session for nobody', async (t) => {
    const { store, site } = await storeWithClock(t)
    for (const data of [{}, { user: undefined }, { user: 1 }, { note: 'x' }])
      await assert.rejects(store.start(id, data, usual), /Only a signed-in user has a session/)
    await assert.rejects(store.start(id, { user: '00000000-0000-7000-8000-000000000000' }, usual))
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('brings back no session that has ended: an update is never an insert', async (t) => {
    const { store, user, site } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    await store.destroy(id)
    await store.update(id, { user, note: 'late' })
    assert.equal(await store.get(id), undefined)
    assert.equal(await count(site, 'sessions'), 0)
    await store.destroy(id)
    await store.destroy('not one of ours')
  })

  test('keeps when a session started through every update', async (t) => {
    const { store, clock, user } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    const start = clock.now
    while (clock.now < start + limits.usual.absolute - limits.usual.idle) {
      clock.now += limits.usual.idle - 1
      await store.get(id)
      await store.update(id, { user, at: clock.now })
    }
    clock.now = start + limits.usual.absolute
    assert.equal(await store.get(id), undefined)
  })
})

async function storeWithClock(t: TestContext) {
  const site = await startSite(t)
  const { id: user } = await signUp(site)
  const clock = { now: Date.UTC(2030, 0, 1) }
  return { site, user, clock, store: new SessionStore(site.orm, () => clock.now) }
}
