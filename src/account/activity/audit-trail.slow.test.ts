import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { MikroORM } from '@mikro-orm/core'
import fc from 'fast-check'
import { databaseOptions } from '../../database/database-options.ts'
import { loadDialect, openDatabase } from '../../database/open-database.ts'
import { createLog } from '../../log/log.ts'
import { schema } from '../../schema.ts'
import type { AuditEvent } from '../../site/audit.ts'
import { isOnPostgres, makeDatabase } from '../../testing/test-database.ts'
import { User } from '../../users/user.ts'
import { AuditTrail } from './audit-trail.ts'
import { Event, eventPage } from './event.ts'

const day = 24 * 60 * 60_000
const from = {
  address: '192.0.2.1',
  userAgent: 'curl/8.5.0',
  request: '0f1c8d3e-2b6a-4f6e-9a53-7b1f8f0d2c11',
}
const ada = { kind: 'user', id: '01939d5c-0000-7000-8000-000000000001' } as const
const signedIn: AuditEvent = { event: 'signed in', account: ada, ...from }

/** An audit trail in a new database, its statements, and a clock that the test sets. */
async function openTrail(t: TestContext, { level = 'info' } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  const { url, drop } = await makeDatabase(folder)
  await (await openDatabase(url, schema)).close()
  const statements: string[] = []
  const orm = await MikroORM.init({
    ...databaseOptions((await loadDialect(url)).options, schema),
    debug: ['query', 'query-params'],
    colors: false,
    logger: (line) => statements.push(line.replace(/^\[query\] | \[took .*$/g, '')),
  })
  t.after(async () => {
    await orm.close()
    await drop()
    await rm(folder, { recursive: true })
  })
  const lines: string[] = []
  const sink = { write: (line: string) => void lines.push(line) }
  const clock = { now: Date.parse('2026-11-21T12:00:00Z') }
  const audit = new AuditTrail(orm, createLog(level, sink), () => clock.now)
  const rows = () => orm.em.fork().find(Event, {}, { orderBy: { id: 'asc' } })
  const execute = (sql: string) => orm.em.getConnection().execute(sql)
  const addUser = async (email: string, disabledAt?: Date) => {
    const em = orm.em.fork()
    const columns = { name: 'Ada', email, emailKey: email.toLowerCase(), passwordHash: '' }
    const user = em.create(User, { ...columns, disabledAt: disabledAt ?? null })
    await em.flush()
    return user.id
  }
  const page = (userId: string, filter = {}) => eventPage(orm.em.fork(), userId, filter, clock.now)
  return { orm, audit, page, clock, lines, rows, statements, execute, addUser }
}

describe('AuditTrail', () => {
  test('O3 writes a line and a row with the same event, account, address and request', async (t) => {
    const { audit, lines, rows } = await openTrail(t)
    await audit.record(signedIn)
    const [line, ...more] = lines.map((each) => JSON.parse(each))
    const { level, time, ...logged } = line
    assert.deepEqual(logged, {
      event: 'signed in',
      outcome: 'success',
      user: ada.id,
      ...from,
      msg: 'authentication',
    })
    assert.match(time, /^\d{4}-.+Z$/)
    const [row] = await rows()
    const { id, at, userId, ...same } = { ...row }
    assert.deepEqual(
      { userId, ...same },
      { userId: ada.id, event: 'signed in', detail: null, times: 1, refusal: null, ...from },
    )
    assert.equal(at?.toISOString(), '2026-11-21T12:00:00.000Z')
    assert.deepEqual([more, (await rows()).length], [[], 1])
  })

  test('C3 finds the account of a failed sign-in, with the same number of statements if the account does not exist', async (t) => {
    const { audit, lines, rows, statements, addUser } = await openTrail(t)
    const known = await addUser('Grace@example.com')
    const disabled = await addUser('eve@example.com', new Date())
    const tries = [
      'Grace@example.com',
      'grace@EXAMPLE.com',
      'eve@example.com',
      'nobody@example.com',
      '',
      'x\'"%_',
      ' Grace@example.com',
      'Grace@example.com\t',
      'Grace@example.com\0',
    ]
    const work: string[][] = []
    for (const username of tries) {
      statements.length = 0
      await audit.record({ event: 'credentials refused', account: { kind: 'user', username }, ...from })
      work.push(statements.map((each) => each.replace(/'[^']*'|"[^"]*"|null|\d+/g, '?')))
    }
    const expected = [known, known, disabled, null, null, null, null, null, null]
    assert.deepEqual(
      (await rows()).map(({ userId, times }) => [userId, times]),
      [
        [known, 2],
        [disabled, 1],
        [null, 6],
      ],
    )
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).user),
      expected,
    )
    assert.equal(work[0]?.length, 2)
    for (const each of work) assert.equal(each.length, work[0]?.length)
    // The query returns one plain row in both cases. Creating an entity takes time, which would reveal that the account exists.
    assert.match(work[0]?.[0] ?? '', /^select \(select id from users where email_key = \?\) as id$/)
    assert.ok(
      !lines.join('').includes('example.com'),
      'the log contains no user name, because users may type the password into that field',
    )
  })

  test('writes the line of an event even at the log level `silent`', async (t) => {
    const { audit, lines } = await openTrail(t, { level: 'silent' })
    await audit.record(signedIn)
    assert.equal(lines.length, 1)
  })

  test('writes the rows that the database has refused when it answers again', async (t) => {
    const { audit, execute, rows } = await openTrail(t)
    await execute('alter table events rename to lost')
    for (let i = 0; i < 3; i += 1) await audit.record(signedIn)
    await execute('alter table lost rename to events')
    await audit.record({ ...signedIn, event: 'name changed' })
    assert.deepEqual(
      (await rows()).map(({ event }) => event),
      ['signed in', 'signed in', 'signed in', 'name changed'],
    )
  })

  test('P2 writes only a line for a throttled request', async (t) => {
    const { audit, lines, rows } = await openTrail(t)
    await audit.record({ ...signedIn, event: 'throttled' })
    assert.deepEqual([(await rows()).length, lines.length], [0, 1])
  })

  test('writes one row a day for repeated Basic credentials from one network', async (t) => {
    const { audit, clock, lines, rows } = await openTrail(t)
    const used = { ...signedIn, event: 'password used' } as const
    for (let i = 0; i < 100; i += 1) await audit.record(used)
    await audit.record({ ...used, address: '203.0.113.1' })
    clock.now += day
    await audit.record(used)
    assert.deepEqual([(await rows()).map(({ times }) => times), lines.length], [[100, 1, 1], 102])
  })

  test('O3 escapes input, so that it cannot forge a line or control a terminal', async (t) => {
    const { audit, lines, rows } = await openTrail(t)
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    const hostile = fc.oneof(
      fc.string({ unit, maxLength: 400 }),
      fc.constantFrom('a\n{"event":"signed in"}', '\u001b]0;x\u0007', '\u009b2J', 'a\u2028b', '\u202e'),
    )
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (username, userAgent, address) => {
        lines.length = 0
        const account = { kind: 'user', username } as const
        await audit.record({ event: 'credentials refused', account, ...from, userAgent, address })
        assert.equal(lines.length, 1)
        assert.match(lines.join(''), /^[\x20-\x7e]+\n$/)
        const line = JSON.parse(lines.join(''))
        const keys = ['level', 'time', 'event', 'outcome', 'user', 'address', 'userAgent', 'request', 'msg']
        assert.deepEqual(Object.keys(line), keys)
        assert.deepEqual([line.event, line.user], ['credentials refused', null])
      }),
      { numRuns: 300 },
    )
    for (const { userAgent, address } of await rows()) {
      assert.ok(userAgent.length <= 255 && address.length <= 45)
      assert.doesNotMatch(userAgent + address, /[\p{C}\p{Zl}\p{Zp}]/u)
    }
  })

  test('returns the events of an account by the index, newest first, a hundred on each page', async (t) => {
    const { audit, page, statements, execute } = await openTrail(t)
    const grace = { kind: 'user', id: 'another user' } as const
    for (let i = 0; i < 120; i += 1) {
      await audit.record({ ...signedIn, request: `${i}` })
      await audit.record({ ...signedIn, account: grace })
    }
    statements.length = 0
    const first = await page(ada.id)
    const second = await page(ada.id, { before: first.last })
    assert.deepEqual(
      [...first.events, ...second.events].map(({ request }) => Number(request)),
      Array.from({ length: 120 }, (_, i) => 119 - i),
    )
    assert.deepEqual([first.events.length, second.last], [100, undefined])
    // PostgreSQL prefers a full scan for a small table.
    if (isOnPostgres) return
    for (const statement of [...statements]) {
      const plan = await execute(`explain query plan ${statement}`)
      assert.match(plan[0].detail, /USING INDEX events_user_id_index \(user_id=\?/)
    }
  })

  test('P3 keeps a sign-in on the first page after failed attempts of others', async (t) => {
    const { audit, page, clock, rows, addUser } = await openTrail(t)
    const id = await addUser('ada@example.com')
    const account = { kind: 'user', username: 'ada@example.com' } as const
    await audit.record({ ...signedIn, account: { kind: 'user', id } })
    for (let today = 0; today < 20; today += 1) {
      for (let i = 0; i < 10; i += 1) {
        const address = `2001:db8:${today}:${i}::1`
        await audit.record({ ...from, event: 'credentials refused', account, address })
        await audit.record({ ...from, event: 'reset link requested', account, address })
      }
      clock.now += day
    }
    const { events, last } = await page(id)
    assert.deepEqual(
      [events.at(-1)?.event, events.length, last, (await rows()).length],
      ['signed in', 3, undefined, 3],
    )
    const [refused] = events.filter(({ event }) => event === 'credentials refused')
    assert.deepEqual([refused?.times, refused?.address], [200, '2001:db8:19:9::1'])
  })

  test('P2 writes a bounded number of rows for failed attempts with unknown user names', async (t) => {
    const { audit, lines, rows } = await openTrail(t)
    for (let i = 0; i < 1000; i += 1) {
      const account = { kind: 'user', username: `${i}@example.com` } as const
      const address = `2001:db8:0:${i}::1`
      await audit.record({ ...from, event: 'credentials refused', account, address })
    }
    const found = await rows()
    assert.ok(found.length <= 64, `${found.length} rows`)
    assert.equal(lines.length, 1000)
    assert.equal(
      found.reduce((sum, { times }) => sum + times, 0),
      1000,
    )
  })

  test('P4 hides and deletes events with a time in the future', async (t) => {
    const { audit, page, clock, rows } = await openTrail(t)
    await audit.record({ ...signedIn, request: 'before' })
    clock.now += 400 * day
    for (let i = 0; i < 150; i += 1) await audit.record({ ...signedIn, request: 'ahead' })
    clock.now -= 400 * day
    assert.deepEqual(
      (await page(ada.id)).events.map(({ request }) => request),
      ['before'],
    )
    assert.equal(await audit.purge(), 150)
    assert.deepEqual(
      (await rows()).map(({ request }) => request),
      ['before'],
    )
  })

  test('deletes events older than 180 days in batches, by the index', async (t) => {
    const { audit, clock, rows, statements, execute } = await openTrail(t)
    for (let i = 0; i < 5; i += 1) await audit.record(signedIn)
    clock.now += 180 * day
    await audit.record(signedIn)
    assert.equal(await audit.purge(), 0)
    clock.now += 1
    statements.length = 0
    assert.deepEqual([await audit.purge(3), await audit.purge(3), await audit.purge(3)], [3, 2, 0])
    assert.equal((await rows()).length, 1)
    // PostgreSQL prefers a full scan for a small table.
    if (isOnPostgres) return
    const plan = await execute(`explain query plan ${statements[0]}`)
    const steps = plan.map(({ detail }: { detail: string }) => detail).join()
    assert.match(steps, /USING (COVERING )?INDEX events_at_index \(at<\?\)/)
  })
})
