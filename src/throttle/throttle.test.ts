import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { MikroORM } from '@mikro-orm/core'
import { openDatabase } from '../database/open-database.ts'
import { TryLater } from '../refusal.ts'
import { makeDatabase, patientSchema } from '../testing/test-database.ts'
import { rules } from './allowance.ts'
import { AttemptCount } from './attempt-count.ts'
import { countersOf } from './counter.ts'
import { type Attempt, maxRows, resetAttempts, Throttle } from './throttle.ts'

const wrong = async () => undefined
const right = async () => 'right'
const guess: Attempt = { action: 'password', account: 'ada@example.com', address: '192.0.2.1' }

async function openOne(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'throttle-'))
  const { url, drop } = await makeDatabase(folder)
  const orm = await openDatabase(url, patientSchema)
  t.after(async () => {
    await orm.close()
    await drop()
    await rm(folder, { recursive: true })
  })
  return { orm, url }
}

/** Sends concurrent attempts, and counts the evaluated and the rejected ones. */
async function flood(throttles: Throttle[], attempts: Attempt[], outcome: () => Promise<string | undefined>) {
  let evaluated = 0
  const evaluate = () => {
    evaluated += 1
    return outcome()
  }
  const results = await Promise.allSettled(
    attempts.map((attempt, i) => (throttles[i % throttles.length] as Throttle).attempt(attempt, evaluate)),
  )
  const refused = results.filter((each) => each.status === 'rejected')
  for (const { reason } of refused) assert.ok(reason instanceof TryLater, reason)
  return { evaluated, refused: refused.length }
}

/** Starts ten attempts whose evaluation ends when the gate is resolved. */
async function runTen(throttle: Throttle) {
  const gate = Promise.withResolvers<string>()
  const started = Array.from({ length: 10 }, () => Promise.withResolvers<void>())
  const running = started.map(({ resolve }) =>
    throttle.attempt(guess, () => {
      resolve()
      return gate.promise
    }),
  )
  await Promise.all(started.map(({ promise }) => promise))
  return { gate, running }
}

/** A throttle whose table counts as full. */
async function fullThrottle(orm: MikroORM) {
  const throttle = new Throttle(orm, Date.now, 0)
  await throttle.purge()
  return throttle
}

describe('Throttle', () => {
  test('D1 D6 evaluates ten of 200 concurrent failed attempts over two connection pools', async (t) => {
    const { orm, url } = await openOne(t)
    const second = await openDatabase(url, patientSchema)
    t.after(() => second.close())
    const result = await flood([new Throttle(orm), new Throttle(second)], Array(200).fill(guess), wrong)
    assert.deepEqual(result, { evaluated: 10, refused: 190 })
  })

  test('accepts an attempt at another account while the same network floods one account', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const gate = Promise.withResolvers<string>()
    const crowd = Array.from({ length: 300 }, () => throttle.attempt(guess, () => gate.promise))
    const settled = Promise.allSettled(crowd)
    await Promise.any(crowd.map((each) => each.catch(() => 'refused')))
    assert.equal(await throttle.attempt({ ...guess, account: 'bob@example.com' }, right), 'right')
    gate.resolve('right')
    await settled
  })

  test('lets 100 attempts at an account wait, and 200 of a network', async (t) => {
    const { orm } = await openOne(t)
    const now = Date.parse('2026-11-21T12:00:00Z')
    const throttle = new Throttle(orm, () => now)
    for (const [action, limit, places] of [
      ['reset', 10, 100],
      ['provider', 50, 200],
    ] as const) {
      const attempts = (count: number) => Array<Attempt>(count).fill({ ...guess, action })
      await flood([throttle], attempts(limit), wrong)
      const waits = attempts(places + 5).map((each) =>
        throttle.attempt(each, wrong).catch(({ headers }) => headers['Retry-After']),
      )
      assert.deepEqual(await Promise.all(waits), [...Array(places).fill('900'), ...Array(5).fill('5')])
    }
  })

  test('D2 rejects with 429 and a whole number of seconds, after which an attempt is evaluated', async (t) => {
    const { orm } = await openOne(t)
    let now = Date.parse('2026-11-21T12:00:00Z')
    const throttle = new Throttle(orm, () => now)
    await flood([throttle], Array(10).fill(guess), wrong)
    const refusal = await throttle.attempt(guess, right).catch((error: unknown) => error)
    assert.ok(refusal instanceof TryLater)
    assert.deepEqual([refusal.status, refusal.headers], [429, { 'Retry-After': '900' }])
    now += 899_999
    await assert.rejects(throttle.attempt(guess, right), TryLater)
    now += 1
    assert.equal(await throttle.attempt(guess, right), 'right')
  })

  test('D4 rejects a network after 50 failed attempts at many accounts', async (t) => {
    const { orm } = await openOne(t)
    const spray = Array.from({ length: 200 }, (_, i) => ({ ...guess, account: `${i}@example.com` }))
    assert.equal((await flood([new Throttle(orm)], spray, wrong)).evaluated, 50)
  })

  test('D1 evaluates 100 of 150 failed attempts at one account from 150 networks', async (t) => {
    const { orm } = await openOne(t)
    const many = Array.from({ length: 150 }, (_, i) => ({ ...guess, address: `198.51.${i}.1` }))
    assert.equal((await flood([new Throttle(orm)], many, wrong)).evaluated, 100)
  })

  test('limits the failed attempts from a known device too', async (t) => {
    const { orm } = await openOne(t)
    const known = Array(30).fill({ ...guess, device: 'known' })
    assert.equal((await flood([new Throttle(orm)], known, wrong)).evaluated, 10)
  })

  test('limits a known device to 100 failed attempts in a day, and to 100 successful ones in 15 minutes', async (t) => {
    const { orm } = await openOne(t)
    let now = Date.parse('2026-11-21T12:00:00Z')
    const throttle = new Throttle(orm, () => now)
    const attempts = (count: number, device: string) => Array(count).fill({ ...guess, device })
    let failed = 0
    for (let round = 0; round < 12; round += 1) {
      failed += (await flood([throttle], attempts(12, 'first'), wrong)).evaluated
      now += 25 * 60_000
    }
    assert.equal(failed, 100)
    const succeeded: number[] = []
    for (let round = 0; round < 2; round += 1)
      succeeded.push((await flood([throttle], attempts(60, 'second'), right)).evaluated)
    assert.deepEqual(succeeded, [60, 40])
  })

  test('D1 keeps failed and running attempts when another attempt does not count', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const bob = { ...guess, account: 'bob@example.com' }
    await flood([throttle], Array(2).fill(guess), wrong)
    const gate = Promise.withResolvers<undefined>()
    const running = Array.from({ length: 2 }, () => throttle.attempt(bob, () => gate.promise))
    await throttle.attempt(guess, right)
    await throttle.attempt(bob, right)
    await throttle.purge()
    gate.resolve(undefined)
    await Promise.all(running)
    for (const attempt of [guess, bob])
      assert.equal((await flood([throttle], Array(10).fill(attempt), wrong)).evaluated, 8)
  })

  test('does not count an attempt whose evaluation throws', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const broken = async () => {
      throw new Error('The database is down.')
    }
    for (let i = 0; i < 20; i += 1) await assert.rejects(throttle.attempt(guess, broken), /down/)
    assert.equal(await throttle.attempt(guess, right), 'right')
  })

  test('D10 counts an attempt whose evaluation does not end within half a minute', async (t) => {
    const { orm } = await openOne(t)
    let now = Date.now()
    const throttle = new Throttle(orm, () => now)
    for (let i = 0; i < 10; i += 1)
      await new Promise<void>((resolve) => {
        void throttle.attempt(guess, () => {
          resolve()
          return new Promise(() => {})
        })
      })
    now += 31_000
    await assert.rejects(throttle.attempt(guess, right), TryLater)
  })

  test('D9 deletes expired counts in batches', async (t) => {
    const { orm } = await openOne(t)
    let now = Date.now()
    const throttle = new Throttle(orm, () => now)
    await flood([throttle], Array(10).fill(guess), wrong)
    assert.equal(await throttle.purge(), 1, 'the unused row')
    assert.equal(await throttle.purge(), 0)
    now += 25 * 60 * 60_000
    assert.deepEqual([await throttle.purge(2), await throttle.purge(2), await throttle.purge(2)], [2, 2, 0])
  })

  test('P4 ignores and deletes counts with a time in the future', async (t) => {
    const { orm } = await openOne(t)
    const start = Date.parse('2026-11-21T12:00:00Z')
    let now = start + 400 * 24 * 60 * 60_000
    const throttle = new Throttle(orm, () => now)
    await flood([throttle], Array(10).fill(guess), wrong)
    const whenRefused = throttle.attempt(guess, right)
    await assert.rejects(whenRefused, { status: 429, headers: { 'Retry-After': '900' } })
    now = start
    assert.equal(await throttle.attempt(guess, right), 'right')
    while ((await throttle.purge()) > 0);
    assert.deepEqual(
      (await orm.em.fork().find(AttemptCount, {})).map(({ expiresAt }) => expiresAt),
      [start + 15 * 60_000],
    )
  })

  test('P4 ignores counts of a clock that is ten minutes ahead', async (t) => {
    const { orm } = await openOne(t)
    const start = Date.parse('2026-11-21T12:00:00Z')
    await flood([new Throttle(orm, () => start + 600_000)], Array(10).fill(guess), wrong)
    assert.equal(await new Throttle(orm, () => start).attempt(guess, right), 'right')
  })

  test('P4 limits `Retry-After` to the window while a clock is two minutes behind another one', async (t) => {
    const { orm } = await openOne(t)
    const start = Date.parse('2026-11-21T12:00:00Z')
    await flood([new Throttle(orm, () => start + 120_000)], Array(10).fill(guess), wrong)
    await assert.rejects(new Throttle(orm, () => start).attempt(guess, right), {
      status: 429,
      headers: { 'Retry-After': '900' },
    })
  })

  test('D1 counts the attempts of one and a half windows at most, and never too few', async (t) => {
    const { orm } = await openOne(t)
    const start = Date.parse('2026-11-21T12:00:00Z')
    const minutes = (count: number) => count * 60_000
    let now = start
    const throttle = new Throttle(orm, () => now)
    const evaluated: number[] = []
    // One guess each minute. Of any 15 minutes, only ten guesses are evaluated.
    for (; now < start + minutes(60); now += minutes(1))
      await throttle
        .attempt(guess, async () => void evaluated.push(now))
        .catch((error: unknown) => assert.ok(error instanceof TryLater))
    for (const [i, at] of evaluated.entries())
      assert.ok((evaluated[i + 10] ?? Number.POSITIVE_INFINITY) >= at + minutes(15))
    assert.ok(evaluated.length >= 30, `${evaluated.length} in an hour`)
  })

  test('P2 rejects a /48 after twice the failures of a network, and a /24 too', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const spray = (address: (i: number) => string): Attempt[] =>
      Array.from({ length: 150 }, (_, i) => ({ action: 'passkey', account: '', address: address(i) }))
    const six = await flood(
      [throttle],
      spray((i) => `2001:db8:7:${i.toString(16)}::1`),
      wrong,
    )
    const four = await flood(
      [throttle],
      spray((i) => `198.51.100.${i}`),
      wrong,
    )
    assert.deepEqual([six.evaluated, four.evaluated], [100, 100])
    const outside = { action: 'passkey', account: '', address: '2001:db8:8::1' } as const
    assert.equal(await throttle.attempt(outside, right), 'right')
  })

  test('P2 has room for all that a thousand blocks may do, so that their attempts share no row with others', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    // All that strangers can do, each time at another account and from another network of the block.
    const actions = ['password', 'passkey', 'sign-up', 'mail', 'mailbox'] as const
    let evaluated = 0
    for (const action of actions) {
      const all = Array.from({ length: action === 'mailbox' ? 40 : 110 }, (_, i) => {
        return { action, account: `${i}@example.com`, address: `2001:db8:7:${i.toString(16)}::1` }
      })
      evaluated += (await flood([throttle], all, wrong)).evaluated
    }
    // A mail counts by its network and by its address.
    assert.equal(evaluated, 100 + 100 + 100 + 40 + 40)
    const rows = await orm.em.fork().count(AttemptCount)
    assert.ok(rows * 1_000 < maxRows, `${rows} rows of a block`)
    assert.equal(await throttle.attempt({ ...guess, action: 'mail' }, right), 'right')
  })

  test('P2 counts in shared rows while the table is full, and still accepts others', async (t) => {
    const { orm } = await openOne(t)
    const throttle = await fullThrottle(orm)
    await flood([throttle], Array(20).fill(guess), wrong)
    await assert.rejects(throttle.attempt(guess, right), { status: 429 })
    const shared = await orm.em.fork().count(AttemptCount, { id: { $like: '%:%' }, used: 10 })
    assert.equal(shared, 4, 'one row for each allowance of failures')
    assert.equal(await throttle.attempt({ ...guess, account: 'bob', address: '203.0.113.1' }, right), 'right')
  })

  test('P2 counts the attempts of before and after the table is full together', async (t) => {
    const { orm } = await openOne(t)
    const [empty, full] = [new Throttle(orm), await fullThrottle(orm)]
    for (const throttles of [
      [empty, full],
      [full, empty],
    ]) {
      const address = `203.0.113.${throttles.indexOf(full)}`
      const each = Array<Attempt>(7).fill({ ...guess, address })
      const evaluated: number[] = []
      for (const throttle of throttles) evaluated.push((await flood([throttle], each, wrong)).evaluated)
      assert.deepEqual(evaluated, [7, 3])
    }
  })

  test('D1 keeps the limit of an account after the password reset of another one that shares its row', async (t) => {
    const { orm } = await openOne(t)
    const throttle = await fullThrottle(orm)
    const many = Array.from({ length: 100 }, (_, i) => ({ ...guess, address: `198.51.${i}.1` }))
    await flood([throttle], many, wrong)
    const rowOf = (account: string) => {
      const values = { account, network: undefined, block: undefined, device: undefined }
      const allowances = rules.password.allowances.slice(3, 4)
      return countersOf({ action: 'password', allowances, values }, { now: 0, isFull: true })[0]?.id
    }
    let eve = 0
    while (rowOf(`${eve}@example.com`) !== rowOf(guess.account)) eve += 1
    await resetAttempts(orm.em.fork(), `${eve}@example.com`)
    await assert.rejects(throttle.attempt({ ...guess, address: '203.0.113.1' }, right), TryLater)
  })

  test('D1 accepts an account after its password reset, and keeps the limits of all others', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const [ada, bob] = [guess, { ...guess, account: 'bob@example.com', address: '203.0.113.1' }]
    for (const [one, other] of [
      [ada, bob],
      [bob, ada],
    ] as const) {
      for (const each of [one, other]) await flood([throttle], Array(10).fill(each), wrong)
      await resetAttempts(orm.em.fork(), one.account)
      await assert.rejects(throttle.attempt(other, right), TryLater)
      assert.equal(await throttle.attempt(one, right), 'right')
    }
  })

  test('counts in a transaction, and a rollback undoes the count', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const notice = { action: 'notice', account: 'ada' } as const
    const count = (isRolledBack: boolean) =>
      orm.em
        .fork()
        .transactional(async (em) => {
          const isCounted = await throttle.countIn(em, notice)
          if (isRolledBack) throw new Error('rollback')
          return isCounted
        })
        .catch(() => 'rolled back')
    const results: unknown[] = []
    for (let i = 0; i < 22; i += 1) results.push(await count(i < 11))
    assert.deepEqual(results, [...Array(11).fill('rolled back'), ...Array(10).fill(true), false])
  })

  test('rejects an attempt if other attempts hold all reservations for five seconds', async (t) => {
    const { orm } = await openOne(t)
    const throttle = new Throttle(orm)
    const { gate, running } = await runTen(throttle)
    const start = performance.now()
    await assert.rejects(throttle.attempt(guess, right), { status: 429, headers: { 'Retry-After': '5' } })
    assert.ok(performance.now() - start >= 5_000)
    gate.resolve('right')
    await Promise.all(running)
    assert.equal(await throttle.attempt(guess, right), 'right')
  })
})
