import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { recordStatements } from '../../auth/testing/record-statements.ts'
import { requestTo } from '../../auth/testing/request-to.ts'
import { digestOf } from '../../database/identifier.ts'
import { changes, count, sql } from '../../testing/database.ts'
import { signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { onlySqlite } from '../../testing/test-database.ts'
import { SessionStore } from './session-store.ts'
import { limits } from './stored-session.ts'

const plans = 'PostgreSQL scans small tables instead of using an index'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const id = 'i'.repeat(43)
const usual = { isKept: false, userAgent: 'a browser', address: '192.0.2.1' }

describe('SessionStore', () => {
  test('returns stored data, and undefined for an unknown identifier', async (t) => {
    const { store, get, user } = await storeWithClock(t)
    await store.start(id, { user, note: { a: [1] }, _expire: 1, _maxAge: 2 }, usual)
    assert.deepEqual(await get(id), { user, note: { a: [1] }, _maxAge: limits.usual.absolute })
    for (const other of ['o'.repeat(43), '', id.slice(1), `${id}x`, '__proto__'])
      assert.equal(await get(other), undefined, other)
  })

  test('E7 ends a session that is unused for its idle limit, to the millisecond', async (t) => {
    const { store, get, clock, user } = await storeWithClock(t)
    for (const [isKept, { idle }] of [
      [false, limits.usual],
      [true, limits.kept],
    ] as const) {
      await store.start(id, { user }, { ...usual, isKept })
      clock.now += idle - 1
      assert.ok(await get(id), 'valid before the limit')
      clock.now += idle - 1
      assert.ok(await get(id), 'its first use was recorded')
      clock.now += idle
      assert.equal(await get(id), undefined)
      await store.destroy(id)
    }
  })

  test('E7 ends a session at its absolute limit even if it is used', async (t) => {
    const { store, get, clock, user } = await storeWithClock(t)
    for (const [isKept, { idle, absolute }] of [
      [false, limits.usual],
      [true, limits.kept],
    ] as const) {
      await store.start(id, { user }, { ...usual, isKept })
      const start = clock.now
      for (clock.now += idle - 1; clock.now < start + absolute; clock.now += idle - 1)
        assert.ok(await get(id))
      clock.now = start + absolute - 1
      assert.ok(await get(id))
      clock.now = start + absolute
      assert.equal(await get(id), undefined)
      await store.destroy(id)
    }
  })

  test('E7 has limits of 2 and 24 hours, or of 14 and 30 days for a persistent session', () => {
    const day = 24 * hour
    assert.deepEqual(limits, {
      usual: { idle: 2 * hour, absolute: 24 * hour },
      kept: { idle: 14 * day, absolute: 30 * day },
    })
  })

  test('E8 writes the last use of a session at most once a minute', async (t) => {
    const { store, get, clock, user, site } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    const before = await changes(site)
    for (let i = 0; i < 59; i += 1) {
      clock.now += second
      await get(id)
    }
    assert.equal(await changes(site), before)
    clock.now += second
    for (let i = 0; i < 5; i += 1) await get(id)
    assert.equal(await changes(site), before + 1)
  })

  test('starts no session without a user', async (t) => {
    const { store, site } = await storeWithClock(t)
    for (const data of [{}, { user: undefined }, { user: 1 }, { note: 'x' }])
      await assert.rejects(store.start(id, data, usual), /Only a signed-in user has a session/)
    await assert.rejects(store.start(id, { user: '00000000-0000-7000-8000-000000000000' }, usual))
    assert.equal(await count(site, 'sessions'), 0)
  })

  test('E6 does not restore an ended session: an update never inserts', async (t) => {
    const { store, get, user, site } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    await store.destroy(id)
    await store.update(id, { user, note: 'late' })
    assert.equal(await get(id), undefined)
    assert.equal(await count(site, 'sessions'), 0)
    await store.destroy(id)
    await store.destroy('not one of ours')
  })

  test('E19 keeps 100 sessions of a user: a new one replaces the least recently used', async (t) => {
    const { store, get, clock, user, site } = await storeWithClock(t)
    const { id: other } = await signUp(site, 'Bob')
    await store.start('b'.repeat(43), { user: other }, usual)
    const ids = Array.from({ length: 130 }, (_, i) => String(i).padStart(43, 'x'))
    for (const each of ids.slice(0, 100)) {
      clock.now += second
      await store.start(each, { user }, usual)
    }
    clock.now += minute
    const used = ids.slice(0, 10)
    for (const each of used) assert.ok(await get(each))
    await site.writeUses()
    for (const each of ids.slice(100)) await store.start(each, { user }, usual)
    const alive = []
    for (const each of ids) if (await get(each)) alive.push(each)
    assert.deepEqual(alive, [...used, ...ids.slice(40)])
    assert.ok(await get('b'.repeat(43)), 'sessions of other users remain')
  })

  test('keeps 100 sessions that start concurrently. A later session replaces one of them, even if the clock goes back', async (t) => {
    const { store, get, clock, user, site } = await storeWithClock(t)
    const ids = Array.from({ length: 150 }, (_, i) => String(i).padStart(43, 'y'))
    await Promise.all(ids.slice(0, 100).map((each) => store.start(each, { user }, usual)))
    for (const each of ids.slice(0, 100)) assert.ok(await get(each))
    clock.now -= minute
    for (const each of ids.slice(100)) {
      await store.start(each, { user }, usual)
      assert.ok(await get(each))
      assert.equal(await count(site, 'sessions'), 100)
    }
    const more = Array.from({ length: 50 }, (_, i) => String(i).padStart(43, 'z'))
    await Promise.all(more.map((each) => store.start(each, { user }, usual)))
    assert.equal(await count(site, 'sessions'), 100)
  })

  test('E14 purges only sessions beyond their idle or absolute limit, in batches', async (t) => {
    const { store, clock, user, site } = await storeWithClock(t)
    const now = clock.now
    const rows: [name: string, isKept: boolean, used: number, started: number, isExpired: boolean][] = [
      ['unused', false, limits.usual.idle, limits.usual.idle, true],
      ['almost unused', false, limits.usual.idle - 1, limits.usual.idle, false],
      ['too old', false, 0, limits.usual.absolute, true],
      ['almost too old', false, 0, limits.usual.absolute - 1, false],
      ['kept, unused', true, limits.kept.idle, limits.kept.idle, true],
      ['kept, almost unused', true, limits.kept.idle - 1, limits.kept.idle, false],
      ['kept, too old', true, 0, limits.kept.absolute, true],
      ['kept, almost too old', true, 0, limits.kept.absolute - 1, false],
    ]
    for (const [name, isKept, used, started] of rows) {
      await store.start(
        name.replaceAll(/\W/g, '_').padEnd(43, 'x'),
        { user },
        { ...usual, isKept, userAgent: name },
      )
      await sql(site, 'update sessions set seen_at = ?, created_at = ? where user_agent = ?', [
        now - used,
        now - started,
        name,
      ])
    }
    clock.now += 5 * second
    assert.equal(await store.purge(3), 3)
    assert.equal(await store.purge(3), 1)
    assert.equal(await store.purge(3), 0)
    const left = await sql(site, 'select user_agent from sessions order by id')
    assert.deepEqual(
      left.map((row) => row.user_agent),
      rows.filter(([, , , , isExpired]) => !isExpired).map(([name]) => name),
    )
  })

  test('E14 uses an index to purge, update and end sessions', onlySqlite(plans), async (t) => {
    const { store, get, clock, user, site } = await storeWithClock(t)
    const statements = await recordStatements(t, site.orm)
    await store.start(id, { user }, usual)
    clock.now += minute
    await get(id)
    await site.writeUses()
    await store.update(id, { user })
    await sql(site, 'update sessions set seen_at = 0')
    await store.purge()
    await store.destroy(id)
    const own = statements.filter((each) => /`sessions`/.test(each) && !each.startsWith('insert'))
    assert.ok(own.length >= 6, `${own.length}`)
    const plans: string[] = []
    for (const each of own) {
      const plan = await sql(site, `explain query plan ${each}`, each.includes('?') ? [id] : [])
      for (const { detail } of plan) plans.push(String(detail))
    }
    assert.deepEqual(
      plans.filter((detail) => detail.startsWith('SCAN')),
      [],
    )
    for (const range of ['(kept=? AND seen_at<?)', '(kept=? AND created_at<?)'])
      assert.equal(plans.filter((detail) => detail.endsWith(range)).length, 2, range)
  })

  test('P4 ends and purges sessions with times more than two minutes ahead', async (t) => {
    const { store, get, clock, user, site } = await storeWithClock(t)
    const start = clock.now
    const ids = ['started', 'kept', 'seen', 'skewed'].map((name) => name.padEnd(43, 'x'))
    const [started = '', kept = '', seen = '', skewed = ''] = ids
    clock.now = start + 400 * 24 * 60 * minute
    await store.start(started, { user }, usual)
    await store.start(kept, { user }, { ...usual, isKept: true })
    clock.now = start
    await store.start(seen, { user }, usual)
    await sql(site, 'update sessions set seen_at = ? where kept = false and digest = ?', [
      start + hour,
      digestOf(seen),
    ])
    clock.now = start + 2 * minute
    await store.start(skewed, { user }, usual)
    clock.now = start
    for (const ahead of [started, kept, seen]) assert.equal(await get(ahead), undefined)
    assert.equal(await store.purge(), 3)
    assert.ok(await get(skewed))
    assert.equal(await count(site, 'sessions'), 1)
  })

  test('keeps the start of a session through updates', async (t) => {
    const { store, get, clock, user } = await storeWithClock(t)
    await store.start(id, { user }, usual)
    const start = clock.now
    while (clock.now < start + limits.usual.absolute - limits.usual.idle) {
      clock.now += limits.usual.idle - 1
      await get(id)
      await store.update(id, { user, at: clock.now })
    }
    clock.now = start + limits.usual.absolute
    assert.equal(await get(id), undefined)
  })
})

async function storeWithClock(t: TestContext) {
  const site = await startSite(t)
  const { id: user } = await signUp(site)
  const clock = { now: Date.UTC(2030, 0, 1) }
  const store = new SessionStore(site.orm, site.uses.sessions, () => clock.now)
  const get = (id: string) => store.get(id, requestTo(site.orm))
  return { site, user, clock, store, get }
}
