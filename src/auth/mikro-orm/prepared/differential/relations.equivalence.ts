import { after, describe, it, type TestContext } from 'node:test'
import { p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { type Model, model, people, peopleOf, type Variation } from './people.ts'

after(dropDatabases)

const staff = { user: { staff: p.integer().unique() }, userRow: { staff: 7 } }
const team = () => model('Team', { id: p.integer().primary(), title: p.string() })

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

describe('P1 LookUp and em.findOne agree: relation', () => {
  it('nullable, without a user', (t) =>
    compare(t, 'prepared', { relate: (User) => p.manyToOne(User).nullable(), tokenRow: { user: null } }))
  it('reference that is null', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).ref().nullable(),
      tokenRow: { user: null },
    }))
  it('target key, by reference', (t) =>
    compare(t, 'prepared', {
      ...staff,
      relate: (User) =>
        p
          .manyToOne(User)
          .targetKey('staff' as never)
          .ref(),
      tokenRow: { user: 7 },
    }))
  it('reference column', (t) =>
    compare(t, 'prepared', {
      ...staff,
      relate: (User) => p.manyToOne(User).referenceColumnName('staff'),
      tokenRow: { user: 7 },
    }))
  it('mapped to the key', (t) =>
    compare(t, 'findOne', {
      relate: (User) => p.manyToOne(User).mapToPk(),
      change: (token) => Object.assign(token, { label: 'phone' }),
    }))
  it('serializer', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).serializer((user) => Reflect.get(user as object, 'name')),
    }))
  it('loaded by a second query', (t) =>
    compare(t, 'findOne', { relate: (User) => p.manyToOne(User).strategy('select-in') }))
  it('to a missing row', (t) =>
    compare(t, 'prepared', {
      finds: 'nothing',
      relate: (User) => p.manyToOne(User).createForeignKeyConstraint(false),
      tokenRow: { user: 9 },
    }))
  it('primary key', (t) =>
    compare(t, 'findOne', { relate: (User) => p.manyToOne(User).primary(), token: { id: p.integer() } }))
  it('not hydrated', (t) => compare(t, 'findOne', { relate: (User) => p.manyToOne(User).hydrate(false) }))
  it('one to one', (t) => compare(t, 'prepared', { relate: (User) => p.oneToOne(User).owner() }))
  it('condition that the user does not meet', (t) =>
    compare(t, 'prepared', {
      relate: (User) => Object.assign(p.manyToOne(User).nullable()).where({ name: 'Grace' }),
    }))
  it('accessor', (t) => compare(t, 'findOne', { relate: (User) => p.manyToOne(User).accessor() }))
  it('accessor of the class for a relation that is not persisted', (t) => {
    const User = model('User', { id: p.integer().primary(), name: p.string() })
    const Token = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string(), userId: p.integer() },
      user: () => p.manyToOne(User).joinColumn('user_id').persist(false),
    })
    Object.defineProperty(Token.prototype, 'user', {
      get(this: { owner: object }) {
        return this.owner
      },
      set(this: { owner: object }, value: object) {
        this.owner = value
      },
      configurable: true,
    })
    const tokenRow = { userId: 1, user: undefined }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { tokenRow }))
  })
  it('not loaded', (t) => compare(t, 'findOne', { lookUpOptions: { relation: undefined } }))
})

describe('P1 LookUp and em.findOne agree: key and relation for one column', () => {
  it('key that is not persisted, without a user', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).nullable(),
      token: { userId: p.integer().persist(false).nullable() },
      tokenRow: { user: null },
    }))
  it('key that is persisted, and a relation that is not', (t) =>
    compare(t, 'findOne', {
      relate: (User) => p.manyToOne(User).joinColumn('user_id').persist(false),
      token: { userId: p.integer() },
      tokenRow: { user: undefined, userId: 1 },
    }))
})

describe('P1 LookUp and em.findOne agree: other relations', () => {
  it('collection of tokens', (t) => {
    const User: Model = model('User', {
      id: p.integer().primary(),
      name: p.string(),
      tokens: () =>
        p
          .oneToMany(Token)
          .mappedBy('user' as never)
          .orphanRemoval(),
    })
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User).inversedBy('tokens' as never),
    })
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token))
  })
  it('second relation', (t) => {
    const Team = team()
    return compare(t, 'findOne', { entities: [Team], token: { team: () => p.manyToOne(Team).nullable() } })
  })
  it('self reference', (t) => {
    const User: Model = model('User', {
      id: p.integer().primary(),
      name: p.string(),
      boss: () => p.manyToOne(User).nullable(),
    })
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User),
    })
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token))
  })
  it('polymorphic', (t) => {
    const User = model('User', { id: p.integer().primary(), name: p.string() })
    const Bot = model('Bot', { id: p.integer().primary(), name: p.string() })
    const Token = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne([User, Bot]).discriminator('userType'),
    })
    const fill = async (em: { create(model: Model, row: never): unknown; flush(): unknown }) => {
      const user = em.create(User, { id: 1, name: 'Ada' } as never)
      em.create(Token, { id: 2, value: 'value', label: 'laptop', user } as never)
      await em.flush()
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Bot], fill }))
  })
  it('relation from a formula', (t) =>
    compare(t, 'findOne', {
      relate: (User) => p.manyToOne(User).formula((of) => `${of}.user_no`),
      token: { userNo: p.integer() },
      tokenRow: { user: undefined, userNo: 1 },
    }))
})
