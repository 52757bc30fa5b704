import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { onlyPostgres, openPostgres } from '../../testing/open-postgres.ts'
import { preparedRequestTo } from '../../testing/request-to.ts'
import { databasesOf } from '../databases.ts'
import { LookUp } from '../look-up.ts'
import type { Connection, prepareStatement } from './prepared-statement.ts'
import { keyColumn } from './query-builder.ts'

function models() {
  const Schema = defineEntity({
    name: 'Token',
    properties: { id: p.uuid().primary(), owner: p.string(), weight: p.float().nullable() },
  })
  class Token extends Schema.class {}
  Schema.setClass(Token)
  return Token
}

const id = '00000000-0000-7000-8000-000000000001'
// A token with the same id in two schemas, with a different `owner` in each.
const otherSchema = `create schema other; create table other.token (like public.token);
  insert into public.token values ('${id}', 'Root'); insert into other.token values ('${id}', 'Ada')`

describe('LookUp on PostgreSQL', onlyPostgres, () => {
  it('queries the schema that the URL names, even in the first look-up', async (t) => {
    const Token = models()
    const { orm, owner } = await openPostgres(t, [Token], { parameters: '?schema=other' })
    await owner.em.getConnection().execute(otherSchema)
    const tokens = new LookUp({ model: Token, property: 'id' })
    assert.equal((await tokens.find(preparedRequestTo(orm), id))?.owner, 'Ada')
  })

  it('finds rows by an index', async (t) => {
    const Token = models()
    const { orm } = await openPostgres(t, [Token], { pool: { max: 1 } })
    const execute = (sql: string): Promise<object[]> => orm.em.getConnection().execute(sql)
    await execute(`insert into token (id, owner) select gen_random_uuid(), n from generate_series(1, 5000) n`)
    await execute('create index on token (owner)')
    await execute('analyze token')
    for (const property of ['id', 'owner'] as const) {
      await new LookUp({ model: Token, property }).find(preparedRequestTo(orm), id)
      const [statement] = await execute(
        `select name from pg_prepared_statements where statement like '%"${property}" = koa%'`,
      )
      const plan = await execute(`explain execute "${Reflect.get(statement ?? {}, 'name')}" ('{${id}}')`)
      assert.match(JSON.stringify(plan), /Index Scan|Bitmap Index/, property)
      assert.doesNotMatch(JSON.stringify(plan), /Seq Scan/)
    }
  })

  it('returns undefined for a number that a `real` column cannot represent exactly', async (t) => {
    const Token = models()
    const { orm } = await openPostgres(t, [Token])
    await orm.em.fork().insert(Token, { id, owner: 'Ada', weight: 0.1 })
    const tokens = new LookUp({ model: Token, property: 'weight' })
    assert.equal(await orm.em.fork().findOne(Token, { weight: 0.1 }), null)
    assert.equal(await tokens.find(preparedRequestTo(orm), 0.1), undefined)
  })

  it('keeps the connection and the statement after a malformed key', async (t) => {
    const Token = models()
    const { orm } = await openPostgres(t, [Token], { pool: { max: 1 } })
    await orm.em.fork().insert(Token, { id, owner: 'Ada' })
    const tokens = new LookUp({ model: Token, property: 'id' })
    const query = 'select pg_backend_pid() as process, (select count(*)::int from pg_prepared_statements)'
    assert.equal((await tokens.find(preparedRequestTo(orm), id))?.owner, 'Ada')
    const before = await orm.em.getConnection().execute(query)
    for (let i = 0; i < 3; i += 1) {
      assert.equal(await tokens.find(preparedRequestTo(orm), 'no UUID'), undefined)
      const request = preparedRequestTo(orm)
      assert.equal((await tokens.find(request, id))?.owner, 'Ada')
      assert.equal(databasesOf(request).hasManager(), false)
    }
    assert.deepEqual(await orm.em.getConnection().execute(query), before)
  })

  it('names statements uniquely, so that processes behind a connection pooler do not mix them up', async (t) => {
    const { orm } = await openPostgres(t, [models()], { pool: { max: 1 } })
    const connection = orm.em.getConnection() as unknown as Connection
    // Simulates processes: each copy of the module has its own counter.
    const [one, other]: { prepareStatement: typeof prepareStatement }[] = await Promise.all(
      ['one', 'other'].map((copy) => import(`./prepared-statement.ts?${copy}`)),
    )
    const ofOwner = await one?.prepareStatement(
      connection,
      `select 'owner' as "is" where 'x' = ${keyColumn}`,
      'text',
    )
    const ofToken = await other?.prepareStatement(
      connection,
      `select 'token' as "is" where 'x' = ${keyColumn}`,
      'text',
    )
    assert.deepEqual(await ofOwner?.(['x']), [{ is: 'owner' }])
    assert.deepEqual(await ofToken?.(['x']), [{ is: 'token' }])
  })
})
