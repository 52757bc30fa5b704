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
  it('nullable, with a user', (t) =>
    compare(t, 'prepared', { relate: (User) => p.manyToOne(User).nullable() }))
  it('nullable, without a user', (t) =>
    compare(t, 'prepared', { relate: (User) => p.manyToOne(User).nullable(), tokenRow: { user: null } }))
  it('reference', (t) => compare(t, 'prepared', { relate: (User) => p.manyToOne(User).ref() }))
  it('reference that is null', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).ref().nullable(),
      tokenRow: { user: null },
    }))
  it('target key', (t) =>
    compare(t, 'prepared', {
      ...staff,
      relate: (User) => p.manyToOne(User).targetKey('staff' as never),
      tokenRow: { user: 7 },
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
  it('target key that is a lazy column', (t) =>
    compare(t, 'prepared', {
      user: { staff: p.bigint().unique().lazy() },
      userRow: { staff: 7n },
      relate: (User) => p.manyToOne(User).targetKey('staff' as never),
      tokenRow: { user: 7n },
    }))
  it('reference column', (t) =>
    compare(t, 'prepared', {
      ...staff,
      relate: (User) => p.manyToOne(User).referenceColumnName('staff'),
      tokenRow: { user: 7 },
    }))
  it('join column', (t) =>
    compare(t, 'prepared', { relate: (User) => p.manyToOne(User).joinColumn('owner "no"') }))
  it('mapped to the key', (t) =>
    compare(t, 'findOne', {
      relate: (User) => p.manyToOne(User).mapToPk(),
      change: (token) => Object.assign(token, { label: 'phone' }),
    }))
  it('hidden', (t) => compare(t, 'prepared', { relate: (User) => p.manyToOne(User).hidden() }))
  it('serializer', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).serializer((user) => Reflect.get(user as object, 'name')),
    }))
  it('serialized name and groups', (t) =>
    compare(t, 'prepared', { relate: (User) => p.manyToOne(User).serializedName('owner').groups('private') }))
  it('eager', (t) => compare(t, 'prepared', { relate: (User) => p.manyToOne(User).eager() }))
  it('lazy reference', (t) => compare(t, 'prepared', { relate: (User) => p.manyToOne(User).lazyRef() }))
  it('joined', (t) => compare(t, 'prepared', { relate: (User) => p.manyToOne(User).strategy('joined') }))
  it('loaded by a second query', (t) =>
    compare(t, 'findOne', { relate: (User) => p.manyToOne(User).strategy('select-in') }))
  it('delete and update rules, cascade', (t) =>
    compare(t, 'prepared', {
      relate: (User) =>
        p
          .manyToOne(User)
          .deleteRule('cascade')
          .updateRule('cascade')
          .cascade('all' as never),
    }))
  it('to a missing row', (t) =>
    compare(t, 'prepared', {
      finds: 'nothing',
      relate: (User) => p.manyToOne(User).createForeignKeyConstraint(false),
      tokenRow: { user: 9 },
    }))
  it('nullable, to a missing row', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).nullable().createForeignKeyConstraint(false),
      tokenRow: { user: 9 },
    }))
  it('primary key', (t) =>
    compare(t, 'findOne', { relate: (User) => p.manyToOne(User).primary(), token: { id: p.integer() } }))
  it('not hydrated', (t) => compare(t, 'findOne', { relate: (User) => p.manyToOne(User).hydrate(false) }))
  it('nullable, set to null by a change', (t) =>
    compare(t, 'prepared', {
      relate: (User) => p.manyToOne(User).nullable(),
      change: (token) => Object.assign(token, { user: null }),
    }))
  it('one to one', (t) => compare(t, 'prepared', { relate: (User) => p.oneToOne(User).owner() }))
  it('one to one, by reference', (t) =>
    compare(t, 'prepared', { relate: (User) => p.oneToOne(User).owner().ref() }))
  it('lazy', (t) => compare(t, 'prepared', { relate: (User) => Object.assign(p.manyToOne(User)).lazy() }))
  it('condition that the user does not meet', (t) =>
    compare(t, 'prepared', {
      relate: (User) => Object.assign(p.manyToOne(User).nullable()).where({ name: 'Grace' }),
    }))
  it('order', (t) => compare(t, 'prepared', { tokenOptions: { orderBy: { user: { name: 'asc' } } } }))
  it('accessor', (t) => compare(t, 'findOne', { relate: (User) => p.manyToOne(User).accessor() }))
  it('setter', (t) => compare(t, 'findOne', { relate: (User) => p.manyToOne(User).setter() }))
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
  const key = { userId: p.integer().persist(false) }
  it('key that is not persisted', (t) => compare(t, 'prepared', { token: key }))
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
  it('inverse side of one to one', (t) => {
    const User: Model = model('User', {
      id: p.integer().primary(),
      name: p.string(),
      token: () =>
        p
          .oneToOne(Token)
          .mappedBy('user' as never)
          .nullable(),
    })
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () =>
        p
          .oneToOne(User)
          .inversedBy('token' as never)
          .owner(),
    })
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token))
  })
  it('looked up from the inverse side', (t) => {
    const User: Model = model('User', {
      id: p.integer().primary(),
      name: p.string(),
      token: () =>
        p
          .oneToOne(Token)
          .inversedBy('user' as never)
          .owner(),
    })
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () =>
        p
          .oneToOne(User)
          .mappedBy('token' as never)
          .nullable(),
    })
    const fill = async (em: { insert(model: Model, row: never): unknown }) => {
      await em.insert(Token, { id: 2, value: 'value', label: 'laptop' } as never)
      await em.insert(User, { id: 1, name: 'Ada', token: 2 } as never)
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { fill }))
  })
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
  it('collection that is looked up with the token', (t) => {
    const Team = team()
    return compare(t, 'findOne', {
      ...{ entities: [Team], token: { teams: () => p.manyToMany(Team).owner() } },
      lookUpOptions: { relation: 'teams' },
    })
  })
  it('many to many', (t) => {
    const Team = team()
    return compare(t, 'findOne', { entities: [Team], user: { teams: () => p.manyToMany(Team).owner() } })
  })
  it('second relation', (t) => {
    const Team = team()
    return compare(t, 'findOne', { entities: [Team], token: { team: () => p.manyToOne(Team).nullable() } })
  })
  it('eager relation of the user', (t) => {
    const Team = team()
    return compare(t, 'findOne', {
      entities: [Team],
      user: { team: () => p.manyToOne(Team).nullable().eager() },
    })
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
  it('user and token of one class', (t) => {
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string(), name: p.string().nullable() },
      user: () => p.manyToOne(Token).nullable(),
    })
    const fill = async (em: { insert(model: Model, row: never): unknown }) => {
      await em.insert(Token, { id: 1, value: 'other', label: 'phone' } as never)
      await em.insert(Token, { id: 2, value: 'value', label: 'laptop', user: 1 } as never)
    }
    return compareWithFindOne(t, 'findOne', { ...peopleOf(Token, Token, { fill }), entities: [Token] })
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
