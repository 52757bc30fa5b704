import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { sql } from '../../testing/database.ts'
import { type Person, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { isOnPostgres } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { Device, Devices } from './devices.ts'

const day = 24 * 60 * 60_000

/** A site with two users, who have no devices yet, and a clock that the test sets. */
async function openDevices(t: TestContext) {
  const site = await startSite(t)
  const [ada, bob] = [await signUp(site), await signUp(site, 'Bob')]
  const clock = { now: Date.parse('2026-11-21T12:00:00Z') }
  const devices = new Devices(site.orm, { isTls: false }, () => clock.now)
  const load = ({ id }: Person) => site.orm.em.fork().findOneOrFail(User, id)
  /** Remembers the device with a value in its cookie. Returns the value of the new cookie. */
  const remember = async (value: string | undefined, user: User) => {
    const ctx = contextWith(value)
    await devices.remember(ctx, user)
    return /^device=([^;]+)/.exec(String(ctx.response.headers['set-cookie']))?.[1]
  }
  const store = async (value: string | undefined, person: Person) =>
    (await remember(value, await load(person))) ?? assert.fail()
  const isKnown = async (value: string, email: string) =>
    (await devices.deviceOf(contextWith(value), email)) !== undefined
  return { site, ada, bob, clock, devices, load, remember, store, isKnown }
}

/** The context of a request with the cookie of a device. */
function contextWith(value: string | undefined) {
  const request = new IncomingMessage(new Socket())
  if (value !== undefined) request.headers.cookie = `device=${value}`
  return new Koa().createContext(request, new ServerResponse(request))
}

describe('Devices', () => {
  test('are known to the account that signed in from them, and keep their cookie value', async (t) => {
    const { ada, bob, isKnown, store } = await openDevices(t)
    const value = await store(undefined, ada)
    assert.match(value, /^[\w-]{43}$/)
    assert.equal(await store(value, ada), value)
    assert.equal(await isKnown(value, ada.email.toUpperCase()), true)
    assert.deepEqual([await isKnown(value, ada.email), await isKnown(value, bob.email)], [true, false])
  })

  test('D3 get a new cookie value when another user signs in, so that two accounts do not share an allowance', async (t) => {
    const { ada, bob, isKnown, store } = await openDevices(t)
    const planted = await store(undefined, ada)
    const value = await store(planted, bob)
    assert.notEqual(value, planted)
    assert.deepEqual([await isKnown(planted, bob.email), await isKnown(value, bob.email)], [false, true])
    assert.equal(await isKnown(planted, ada.email), true)
  })

  test('are not stored if the credentials have changed since the sign-in', async (t) => {
    const { site, ada, isKnown, load, remember } = await openDevices(t)
    const user = await load(ada)
    const value = await remember(undefined, user)
    assert.ok(value && (await isKnown(value, ada.email)))
    await sql(site, 'update users set credentials_version = credentials_version + 1')
    assert.equal(await remember(undefined, user), undefined)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 1 }])
  })

  test('D3 are limited to 100 for each user: a new device replaces the least recently used one', async (t) => {
    const { site, ada, bob, clock, isKnown, store } = await openDevices(t)
    const others = await store(undefined, bob)
    const values: string[] = []
    for (let i = 0; i < 100; i += 1) {
      clock.now += 1000
      values.push(await store(undefined, ada))
    }
    const [first = '', second = '', third = ''] = values
    clock.now += 1000
    await store(first, ada)
    assert.equal(await isKnown(second, ada.email), true, 'a repeated sign-in adds no device')
    const newest = await store(undefined, ada)
    const known = (value: string) => isKnown(value, ada.email)
    assert.deepEqual(
      [await known(first), await known(second), await known(third), await known(newest)],
      [true, false, true, true],
    )
    assert.equal(await isKnown(others, bob.email), true)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 101 }])
  })

  test('Q5 add the network of a program once in five concurrent requests', async (t) => {
    const { site, ada, devices, load } = await openDevices(t)
    const user = await load(ada)
    let added = 0
    const onNew = async () => {
      added += 1
    }
    const requests = Array.from({ length: 5 }, () =>
      devices.rememberNetwork(contextWith(undefined), user, onNew),
    )
    await Promise.all(requests)
    assert.equal(added, 1)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 1 }])
  })

  test('are deleted in batches a year after their last sign-in, and are found by an index', async (t) => {
    const { site, ada, clock, devices, isKnown, store } = await openDevices(t)
    const values: string[] = []
    for (let i = 0; i < 5; i += 1) values.push(await store(undefined, ada))
    clock.now += 365 * day
    await store(values[0], ada)
    assert.equal(await devices.purge(), 0)
    clock.now += 1
    assert.equal(await isKnown(values[1] ?? '', ada.email), false)
    assert.deepEqual([await devices.purge(3), await devices.purge(3), await devices.purge(3)], [3, 1, 0])
    assert.equal(await isKnown(values[0] ?? '', ada.email), true)
    // PostgreSQL prefers a full scan for a small table.
    if (isOnPostgres) return
    const [plan] = await sql(site, 'explain query plan select digest from devices where seen_at < 1')
    assert.match(String(plan?.detail), /USING (COVERING )?INDEX devices_seen_at_index \(seen_at<\?\)/)
  })

  test('E14 are deleted in batches even if several users share a network, which has one key', async (t) => {
    const { site, ada, bob, clock, devices } = await openDevices(t)
    const at = (offset: number) => new Date(clock.now + offset * day)
    const rows = [
      { digest: 'shared', user: ada.id, seenAt: at(-400) },
      { digest: 'shared', user: bob.id, seenAt: at(-399) },
      { digest: 'future 1', user: ada.id, seenAt: at(1) },
      { digest: 'future 2', user: ada.id, seenAt: at(1) },
    ]
    await site.orm.em.fork().insertMany(Device, rows)
    assert.deepEqual([await devices.purge(1), await devices.purge(1), await devices.purge(1)], [2, 1, 1])
  })

  test('P4 are unknown and are deleted if their last sign-in is in the future', async (t) => {
    const { site, ada, clock, devices, isKnown, store } = await openDevices(t)
    const kept = await store(undefined, ada)
    clock.now += 400 * day
    const ahead = await store(undefined, ada)
    clock.now -= 400 * day
    const known = (value: string) => isKnown(value, ada.email)
    assert.deepEqual([await known(kept), await known(ahead)], [true, false])
    assert.equal(await devices.purge(), 1)
    assert.deepEqual(await sql(site, 'select count(*) as n from devices'), [{ n: 1 }])
  })
})
