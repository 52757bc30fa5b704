import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { openORM } from '../testing/open-orm.ts'
import { requestTo } from '../testing/request-to.ts'
import { KeyLookUp } from './key-look-up.ts'

describe('KeyLookUp', () => {
  it('returns undefined for an integer that a number cannot represent, and for a key in another notation', async (t) => {
    const Schema = defineEntity({ name: 'User', properties: { id: p.bigint('number').primary() } })
    class User extends Schema.class {}
    Schema.setClass(User)
    const { orm } = await openORM(t, User)
    await orm.em.getConnection().execute('insert into user values (9007199254740992), (42)')
    const users = new KeyLookUp(User)
    assert.equal(await users.find(requestTo(orm), '9007199254740993'), undefined)
    for (const other of ['042', '42.0', ' 42', '4.2e1', '0x2a', '', 'NaN', 'Infinity', '-0'])
      assert.equal(await users.find(requestTo(orm), other), undefined, other)
    assert.equal((await users.find(requestTo(orm), '42'))?.id, 42)
  })

  it('finds a key with a fraction, and a key that contains a tab', async (t) => {
    const ScaleSchema = defineEntity({ name: 'Scale', properties: { id: p.float().primary() } })
    class Scale extends ScaleSchema.class {}
    ScaleSchema.setClass(Scale)
    const NamedSchema = defineEntity({ name: 'Named', properties: { id: p.string().primary() } })
    class Named extends NamedSchema.class {}
    NamedSchema.setClass(Named)
    const { orm } = await openORM(t, Scale, Named)
    await orm.em.fork().insert(Scale, { id: 1.5 })
    await orm.em.fork().insert(Named, { id: 'a\tb' })
    assert.equal((await new KeyLookUp(Scale).find(requestTo(orm), '1.5'))?.id, 1.5)
    assert.equal((await new KeyLookUp(Named).find(requestTo(orm), 'a\tb'))?.id, 'a\tb')
  })
})
