import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { dropDatabases, execute, openDatabase } from './open-database.ts'
import { type Model, model } from './people.ts'
import { answers, serveTokens, tokenClass, userClass } from './token-program.ts'

after(dropDatabases)

const isActive = { name: 'active', cond: { leftAt: null }, default: true }

describe('A program with owners of several classes', () => {
  it('E9 rejects a token whose user is hidden by a filter of the parent class', async (t) => {
    for (const isPolymorphic of [true, false]) {
      const columns = { id: p.integer().primary(), name: p.string(), leftAt: p.datetime().nullable() }
      const parent = { name: 'Person', abstract: true, discriminatorColumn: 'kind' }
      const PersonSchema = defineEntity({ ...parent, properties: columns })
      const Admin = defineEntity({
        ...{ name: 'Admin', extends: PersonSchema, discriminatorValue: 'admin', properties: {} },
      })
      const Person = PersonSchema.class as Model
      const Bot = userClass()
      const UserToken = tokenClass(() =>
        isPolymorphic ? p.manyToOne([Person, Bot]).discriminator('ownerType') : p.manyToOne(Person),
      )
      const cond = isPolymorphic ? { leftAt: null } : { $not: { name: 'Ada' } }
      const orm = await openDatabase(t, {
        entities: [PersonSchema, Admin, Bot, UserToken] as never,
        filters: { active: { cond, entity: 'Person', default: true } } as never,
      })
      const em = orm.em.fork()
      const user = em.create(Admin.class as Model, { id: 1, name: 'Ada', leftAt: new Date(0) } as never)
      em.create(UserToken, { id: 2, value: 'value', user } as never)
      await em.flush()
      await answers(await serveTokens(t, orm, [Person, UserToken]), 401)
    }
  })

  it('E9 P1 authenticates each owner as its class, and no owner that is hidden or deleted', async (t) => {
    for (const autoJoinRefsForFilters of [true, false]) {
      const User = userClass({ leftAt: p.datetime().nullable() }, { filters: { active: isActive } })
      const Bot = model('Bot', { id: p.integer().primary(), name: p.string() })
      const UserToken = tokenClass(() => p.manyToOne([User, Bot]).discriminator('userType'))
      const orm = await openDatabase(t, { entities: [User, Bot, UserToken], autoJoinRefsForFilters })
      const em = orm.em.fork()
      const user = em.create(User, { id: 1, name: 'Ada' } as never)
      const bot = em.create(Bot, { id: 1, name: 'R2' } as never)
      em.create(UserToken, { id: 1, value: 'value', user } as never)
      em.create(UserToken, { id: 2, value: 'other', user: bot } as never)
      await em.flush()
      const asUser = await serveTokens(t, orm, [User, UserToken])
      const asBot = await serveTokens(t, orm, [Bot, UserToken])
      await answers(asUser, 200)
      assert.deepEqual((await asBot('other')).body, { id: 1, name: 'R2' })
      assert.deepEqual([(await asUser('other')).status, (await asBot('value')).status], [401, 401])
      await execute(orm, 'update "user" set left_at = \'2026-01-02\'')
      await answers(asUser, 401)
      await execute(orm, 'delete from "user"')
      await answers(asUser, 401)
    }
  })
})
