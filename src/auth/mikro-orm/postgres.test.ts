import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { CompiledQuery } from 'kysely'
import { onlyPostgres, openPostgres } from '../testing/open-postgres.ts'
import { requestTo } from '../testing/request-to.ts'
import { LookUp } from './look-up.ts'

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
// The same token in two schemas, and two owners.
const otherSchema = `create schema other; create table other.token (like public.token);
  insert into public.token values ('${id}', 'Root'); insert into other.token values ('${id}', 'Ada')`

describe('LookUp on PostgreSQL', onlyPostgres, () => {
  it('reads the schema that the URL names, also before the first connection', async (t) => {
    const Token = models()
    const { orm, owner } = await openPostgres(t, [Token], { parameters: '?schema=other' })
    await owner.em.getConnection().execute(otherSchema)
    const tokens = new LookUp({ model: Token, property: 'id' })
    assert.equal((await tokens.find(requestTo(orm), id))?.owner, 'Ada')
  })

  it('reads the schema that `reconnect` or `config.set` chose', async (t) => {
    const Token = models()
    const { orm, owner } = await openPostgres(t, [Token])
    await owner.em.getConnection().execute(otherSchema)
    const tokens = new LookUp({ model: Token, property: 'id' })
    assert.equal((await tokens.find(requestTo(orm), id))?.owner, 'Root')
    orm.config.set('schema', 'other')
    assert.equal((await tokens.find(requestTo(orm), id))?.owner, 'Ada')
  })

  it('uses `em.findOne` where a replica has a hook for each reservation of a connection', async (t) => {
    const Token = models()
    const onReserveConnection = async (connection: { executeQuery(query: CompiledQuery): unknown }) => {
      await connection.executeQuery(CompiledQuery.raw('set search_path = other'))
    }
    const { orm, owner } = await openPostgres(t, [Token], { replicas: [{ onReserveConnection }] as never })
    await owner.em.getConnection().execute(otherSchema)
    const tokens = new LookUp({ model: Token, property: 'id' })
    assert.equal((await tokens.find(requestTo(orm), id))?.owner, 'Ada')
  })

  it('finds no row by a `real` that is not exactly the number', async (t) => {
    const Token = models()
    const { orm } = await openPostgres(t, [Token])
    await orm.em.fork().insert(Token, { id, owner: 'Ada', weight: 0.1 })
    const tokens = new LookUp({ model: Token, property: 'weight' })
    assert.equal(await orm.em.fork().findOne(Token, { weight: 0.1 }), null)
    assert.equal(await tokens.find(requestTo(orm), 0.1), undefined)
  })
})
