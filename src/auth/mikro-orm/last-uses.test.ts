import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEntity, type MikroORM, p } from '@mikro-orm/core'
import { Misuse } from '../errors.ts'
import { openORM } from '../testing/open-orm.ts'
import { LastUses } from './last-uses.ts'

const second = 1_000
const minute = 60_000
const now = Date.UTC(2030, 0, 1)

/** Inserts this number of tokens, and creates a `LastUses` for them. */
async function usesOf(t: TestContext, amount: number) {
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: { id: p.integer().primary(), name: p.string(), usedAt: p.datetime().nullable() },
  })
  class Token extends TokenSchema.class {}
  TokenSchema.setClass(Token)
  const { orm, statements } = await openORM(t, Token)
  const rows = Array.from({ length: amount }, (_, i) => ({ id: i + 1, name: `${i}` }))
  await orm.em.fork().insertMany(Token, rows)
  const errors: unknown[] = []
  const uses = new LastUses(orm, Token, 'usedAt', { onError: (error) => errors.push(error) })
  t.after(() => uses.write())
  const tokens = () => orm.em.fork().find(Token, {}, { orderBy: { id: 'asc' } })
  const used = async () => (await tokens()).map(({ usedAt }) => usedAt?.getTime())
  const updates = () => statements.filter((each) => each.startsWith('update')).length
  return { orm, Token, uses, errors, tokens, used, updates }
}

function run(orm: MikroORM, sql: string): Promise<unknown> {
  const connection = orm.em.getConnection() as unknown as { execute(sql: string): Promise<unknown> }
  return connection.execute(sql)
}

describe('LastUses', () => {
  test('writes the uses of one second in batches of 500 rows', async (t) => {
    const { uses, tokens, used, updates } = await usesOf(t, 501)
    for (const token of await tokens()) uses.note(token, now)
    assert.equal(updates(), 0)
    await uses.write()
    assert.equal(updates(), 2)
    assert.deepEqual(new Set(await used()), new Set([now]))
    await uses.write()
    assert.equal(updates(), 2)
  })

  test('writes automatically after a second', async (t) => {
    const { uses, tokens, used } = await usesOf(t, 1)
    const start = Date.now()
    for (const token of await tokens()) uses.note(token)
    while ((await used())[0] === undefined) await turn()
    assert.ok(Date.now() >= start + 0.9 * second)
  })

  test('notes a use at most once a minute, before and after the write', async (t) => {
    const { uses, tokens, used, updates } = await usesOf(t, 1)
    const note = async (time: number) => {
      for (const token of await tokens()) uses.note(token, time)
    }
    await note(now)
    await note(now + minute - 1)
    await uses.write()
    assert.deepEqual([await used(), updates()], [[now], 1])
    await note(now + minute - 1)
    await uses.write()
    assert.equal(updates(), 1)
    await note(now + minute)
    await uses.write()
    assert.deepEqual([await used(), updates()], [[now + minute], 2])
  })

  test("returns the later of the entity's time and its noted time", async (t) => {
    const { uses, tokens } = await usesOf(t, 1)
    const [token = assert.fail()] = await tokens()
    assert.equal(uses.of(token), undefined)
    uses.note(token, now)
    assert.equal(uses.of(token)?.getTime(), now)
    token.usedAt = new Date(now + 1)
    assert.equal(uses.of(token)?.getTime(), now + 1)
  })

  test('keeps a later or almost equal time of another process, and does not insert a deleted row again', async (t) => {
    const { orm, Token, uses, tokens, used } = await usesOf(t, 4)
    const all = await tokens()
    for (const token of all) uses.note(token, now)
    const set = (id: number, time: number) =>
      orm.em.fork().nativeUpdate(Token, { id }, { usedAt: new Date(time) })
    await set(1, now + minute)
    await set(2, now - 20)
    await set(3, now - minute)
    await orm.em.fork().nativeDelete(Token, { id: 4 })
    await uses.write()
    assert.deepEqual(await used(), [now + minute, now - 20, now])
  })

  test('reports the first of several failed writes, and writes later uses', async (t) => {
    const { orm, uses, errors, tokens, used } = await usesOf(t, 1)
    const [token = assert.fail()] = await tokens()
    await run(orm, "create trigger broken before update on token begin select raise(abort, 'no'); end")
    for (let time = 0; time < 3; time += 1) {
      uses.note(token, now + time * minute)
      await uses.write()
    }
    assert.equal(errors.length, 1)
    await run(orm, 'drop trigger broken')
    uses.note(token, now + 3 * minute)
    await uses.write()
    assert.deepEqual(await used(), [now + 3 * minute])
  })

  test('keeps a note that is renewed during the write', async (t) => {
    const { uses, tokens, used } = await usesOf(t, 1)
    const [token = assert.fail()] = await tokens()
    uses.note(token, now)
    const written = uses.write()
    await Promise.resolve()
    uses.note(token, now + minute)
    await written
    assert.deepEqual(await used(), [now])
    assert.equal(uses.of(token)?.getTime(), now + minute)
    await uses.write()
    assert.deepEqual(await used(), [now + minute])
  })

  test('rejects a model with a composite primary key', async (t) => {
    const PairSchema = defineEntity({
      name: 'Pair',
      properties: { one: p.integer().primary(), other: p.integer().primary(), usedAt: p.datetime() },
    })
    class Pair extends PairSchema.class {}
    PairSchema.setClass(Pair)
    const { orm } = await openORM(t, Pair)
    assert.throws(() => new LastUses(orm, Pair, 'usedAt', { onError: () => {} }), Misuse)
  })
})
