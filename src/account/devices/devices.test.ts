import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { type Person, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { isOnPostgres } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { Devices } from './devices.ts'

const day = 24 * 60 * 60_000

/** A site with two users, who have no devices yet, and a clock that the test sets. */
async function openDevices(t: TestContext) {
  const site = await startSite(t)
  const [ada, bob] = [await signUp(site), await signUp(site, 'Bob')]
  const clock = { now: Date.parse('2026-11-21T12:00:00Z') }
  const devices = new Devices(site.orm, { isTls: false }, () => clock.now)
  const store = async (value: string | undefined, { id }: Person) => {
    const user = await site.orm.em.fork().findOneOrFail(User, id)
    return (await devices.store(value, user)) ?? assert.fail()
  }
  return { site, ada, bob, clock, devices, store }
}

describe('Devices', () => {
  test('are known to the account that signed in from them, and keep their cookie value', async (t) => {
    const { ada, bob, devices, store } = await openDevices(t)
    const value = await store(undefined, ada)
    assert.match(value, /^[\w-]{43}$/)
    assert.equal(await store(value, ada), value)
    assert.equal(await devices.isKnown(value, ada.email.toUpperCase()), true)
    assert.deepEqual(
      [await devices.isKnown(value, ada.email), await devices.isKnown(value, bob.email)],
      [true, false],
    )
  })

  test('D3 get a new cookie value when another user signs in, so that two accounts do not share an allowance', async (t) => {
    const { ada, bob, devices, store } = await openDevices(t)
    const planted = await store(undefined, ada)
    const value = await store(planted, bob)
    assert.notEqual(value, planted)
    assert.deepEqual(
      [await devices.isKnown(planted, bob.email), await devices.isKnown(value, bob.email)],
      [false, true],
    )
    assert.equal(await devices.isKnown(planted, ada.email), true)
  })

  test('are not stored if the credentials have changed since the sign-in', async (t) => {
    const { site, ada, devices } = await openDevices(t)
    const user = await site.orm.em.fork().findOneOrFail(User, ada.id)
    const value = await devices.store(undefined, user)
    assert.ok(value && (await devices.isKnown(value, ada.email)))
    await sql(site, 'update users set credentials_version = credentials_version + 1')
    assert.equal(await devices.store(undefined, user), undefined)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 1 }])
  })

  test('D3 are limited to 100 for each user: a new device replaces the least recently used one', async (t) => {
    const { site, ada, bob, clock, devices, store } = await openDevices(t)
    const others = await store(undefined, bob)
    const values: string[] = []
    for (let i = 0; i < 100; i += 1) {
      clock.now += 1000
      values.push(await store(undefined, ada))
    }
    const [first = '', second = '', third = ''] = values
    clock.now += 1000
    await store(first, ada)
    assert.equal(await devices.isKnown(second, ada.email), true, 'a repeated sign-in adds no device')
    const newest = await store(undefined, ada)
    const known = (value: string) => devices.isKnown(value, ada.email)
    assert.deepEqual(
      [await known(first), await known(second), await known(third), await known(newest)],
      [true, false, true, true],
    )
    assert.equal(await devices.isKnown(others, bob.email), true)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 101 }])
  })

  test('are deleted in batches a year after their last sign-in, and are found by an index', async (t) => {
    const { site, ada, clock, devices, store } = await openDevices(t)
    const values: string[] = []
    for (let i = 0; i < 5; i += 1) values.push(await store(undefined, ada))
    clock.now += 365 * day
    await store(values[0], ada)
    assert.equal(await devices.purge(), 0)
    clock.now += 1
    assert.equal(await devices.isKnown(values[1] ?? '', ada.email), false)
    assert.deepEqual([await devices.purge(3), await devices.purge(3), await devices.purge(3)], [3, 1, 0])
    assert.equal(await devices.isKnown(values[0] ?? '', ada.email), true)
    // PostgreSQL prefers a full scan for a small table.
    if (isOnPostgres) return
    const [plan] = await sql(site, 'explain query plan select digest from devices where seen_at < 1')
    assert.match(String(plan?.detail), /USING (COVERING )?INDEX devices_seen_at_index \(seen_at<\?\)/)
  })

  test('P4 are unknown and are deleted if their last sign-in is in the future', async (t) => {
    const { site, ada, clock, devices, store } = await openDevices(t)
    const kept = await store(undefined, ada)
    clock.now += 400 * day
    const ahead = await store(undefined, ada)
    clock.now -= 400 * day
    const isKnown = (value: string) => devices.isKnown(value, ada.email)
    assert.deepEqual([await isKnown(kept), await isKnown(ahead)], [true, false])
    assert.equal(await devices.purge(), 1)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 1 }])
  })
})
