import { after, describe, it } from 'node:test'
import { type EntityManager, p } from '@mikro-orm/core'
import { compare, compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { type Model, model, peopleOf, tokensOf } from './people.ts'

after(dropDatabases)

const columns = { id: p.integer().primary(), name: p.string() }
const staff = { user: { staff: p.integer().unique() }, userRow: { staff: 7 }, tokenRow: { user: 7 } }

describe('P1 prepared look-ups and em.findOne agree: relations', () => {
  it('null, as an entity and as a reference', async (t) => {
    const tokenRow = { user: null }
    await compare(t, 'prepared', { relate: (User) => p.manyToOne(User).nullable(), tokenRow })
    await compare(t, 'prepared', { relate: (User) => p.manyToOne(User).ref().nullable(), tokenRow })
  })
  it('to a missing row', (t) =>
    compare(t, 'prepared', {
      finds: 'nothing',
      relate: (User) => p.manyToOne(User).createForeignKeyConstraint(false),
      tokenRow: { user: 9 },
    }))
  it('by another column', async (t) => {
    const byKey = (User: Model) => p.manyToOne(User).targetKey('staff' as never)
    await compare(t, 'prepared', { ...staff, relate: (User) => byKey(User).ref() })
    await compare(t, 'prepared', {
      ...staff,
      relate: (User) => p.manyToOne(User).referenceColumnName('staff'),
    })
  })
  it('serializer, one to one, a condition, and a property for the same column', async (t) => {
    await compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).serializer((user) => Reflect.get(user as object, 'name')),
    })
    await compare(t, 'prepared', { relate: (User) => p.oneToOne(User).owner() })
    await compare(t, 'prepared', {
      relate: (User) => Object.assign(p.manyToOne(User).nullable()).where({ name: 'Grace' }),
    })
    await compare(t, 'prepared', { token: { userId: p.integer().fieldName('user_id').persist(false) } })
  })

  it('uses em.findOne for other kinds of relations', (t) => {
    const Team = model('Team', { id: p.integer().primary(), title: p.string() })
    return compare(
      t,
      'findOne',
      {
        relate: (User) => p.manyToOne(User).mapToPk(),
        change: (token) => Object.assign(token, { label: 'phone' }),
      },
      { relate: (User) => p.manyToOne(User).strategy('select-in') },
      { relate: (User) => p.manyToOne(User).primary(), token: { id: p.integer() } },
      { relate: (User) => p.manyToOne(User).hydrate(false) },
      { relate: (User) => p.manyToOne(User).accessor() },
      { lookUpOptions: { relation: undefined } },
      {
        relate: (User) => p.manyToOne(User).joinColumn('user_id').persist(false),
        token: { userId: p.integer() },
        tokenRow: { user: undefined, userId: 1 },
      },
      {
        relate: (User) => p.manyToOne(User).formula((of) => `${of}.user_no`),
        token: { userNo: p.integer() },
        tokenRow: { user: undefined, userNo: 1 },
      },
      { entities: [Team], token: { team: () => p.manyToOne(Team).nullable() } },
    )
  })
  it('uses em.findOne for a collection of tokens', (t) => {
    const tokens = () =>
      p
        .oneToMany(Token)
        .mappedBy('user' as never)
        .orphanRemoval()
    const User: Model = model('User', { ...columns, tokens })
    const Token = tokensOf(User, () => p.manyToOne(User).inversedBy('tokens' as never))
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token))
  })
  it('uses em.findOne for a polymorphic relation', (t) => {
    const User = model('User', columns)
    const Bot = model('Bot', { id: p.integer().primary(), name: p.string() })
    const Token = tokensOf(User, () => p.manyToOne([User, Bot]).discriminator('userType'))
    const fill = async (em: EntityManager) => {
      const user = em.create(User, { id: 1, name: 'Ada' } as never)
      em.create(Token, { id: 2, value: 'value', label: 'laptop', user } as never)
      await em.flush()
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Bot], fill }))
  })
})
