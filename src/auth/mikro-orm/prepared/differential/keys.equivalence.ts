import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { Money, MoneyType, Reversed } from './custom-types.ts'
import { dropDatabases, isOnPostgres, onlyPostgres } from './open-database.ts'
import { insert, type Model, model, peopleOf, type Variation } from './people.ts'

after(dropDatabases)

const uuid = '018f0000-0000-7000-8000-00000000000a'

/** Compares `KeyLookUp` with `em.findOne` for a type of primary key. */
function compareByKey(
  t: TestContext,
  strategy: Strategy,
  property: unknown,
  key: unknown,
  text = String(key),
) {
  const User = model('User', { id: property, name: p.string() })
  return compareWithFindOne(t, strategy, {
    entities: [User],
    lookUpOptions: { model: User, property: 'id' },
    value: typeof key === 'number' ? key : String(key),
    byKey: text,
    fill: (em) => insert(em, User, { id: key, name: 'Ada' }),
    change: (user) => Object.assign(user, { name: 'Grace' }),
  })
}

/** Compares a look-up by token. The user and the token have this type of primary key. */
function compareByToken(
  t: TestContext,
  strategy: Strategy,
  property: () => unknown,
  key: unknown,
  variation?: Variation,
) {
  const User = model('User', { id: property(), name: p.string() })
  const Token = model('Token', {
    ...{ id: property(), value: p.string(), label: p.string() },
    user: () => p.manyToOne(User),
  })
  return compareWithFindOne(
    t,
    strategy,
    peopleOf(User, Token, { userRow: { id: key }, tokenRow: { id: key, user: key }, ...variation }),
  )
}

describe('P1 KeyLookUp and em.findOne agree: primary keys', () => {
  it('integer', (t) => compareByKey(t, 'prepared', p.integer().primary(), 1))
  it('bigint', (t) => compareByKey(t, 'prepared', p.bigint().primary(), 2n ** 53n + 1n))
  it('uuid', (t) => compareByKey(t, 'prepared', p.uuid().primary(), uuid))
  it('string', (t) => compareByKey(t, 'prepared', p.string().primary(), "a'b"))
  it('string in lower case', (t) => compareByKey(t, 'findOne', p.string().lowercase().primary(), 'ada'))
  it('decimal', (t) => compareByKey(t, 'findOne', p.decimal().precision(9).scale(2).primary(), '1.50'))
  it('custom type', (t) => compareByKey(t, 'findOne', p.type(Reversed).primary(), 'ada'))
})

describe('P1 LookUp and em.findOne agree: primary keys', () => {
  it('bigint', (t) => compareByToken(t, 'prepared', () => p.bigint().primary(), 2n ** 53n + 1n))
  it('uuid', (t) => compareByToken(t, 'prepared', () => p.uuid().primary(), uuid))
  it('string', (t) => compareByToken(t, 'prepared', () => p.string().primary(), "a'b"))
  it('custom type', (t) => compareByToken(t, 'findOne', () => p.type(Reversed).primary(), 'ada'))
  it('datetime', (t) => compareByToken(t, 'prepared', () => p.datetime().primary(), new Date(0)))
  it('blob', (t) => compareByToken(t, 'findOne', () => p.blob().primary(), Buffer.from([1, 2])))
  it('serializer', (t) =>
    compareByToken(
      t,
      'prepared',
      () =>
        p
          .integer()
          .primary()
          .serializer((id) => `#${id}`),
      5,
    ))
  it('composite key of the user', (t) => {
    const User = model('User', { id: p.integer().primary(), org: p.integer().primary(), name: p.string() })
    const Token = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User),
    })
    const fill = async (em: EntityManager) => {
      await insert(em, User, { id: 1, org: 3, name: 'Ada' })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: [1, 3] })
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { fill }))
  })
  it('user whose key is a relation', (t) => {
    const Person = model('Person', { id: p.integer().primary() })
    const User = model('User', { person: () => p.oneToOne(Person).primary().owner(), name: p.string() })
    const Token = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User),
    })
    const fill = async (em: EntityManager) => {
      await insert(em, Person, { id: 1 })
      await insert(em, User, { person: 1, name: 'Ada' })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
    }
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Person], fill }))
  })
  it('serialized primary key', (t) => {
    const User = model('User', {
      ...{ id: p.integer().primary(), key: p.string().serializedPrimaryKey().persist(false) },
      name: p.string(),
    })
    const Token: Model = model('Token', {
      ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
      user: () => p.manyToOne(User),
    })
    return compareWithFindOne(t, 'findOne', peopleOf(User, Token))
  })
  it('key that is an object', (t) =>
    compareByToken(t, 'findOne', () => p.type(MoneyType).primary(), new Money(5)))
})

/** Compares a look-up by a column of this type. */
function compareByValue(
  t: TestContext,
  strategy: Strategy,
  property: unknown,
  value: string | number,
  more?: Variation,
) {
  const User = model('User', { id: p.integer().primary(), name: p.string() })
  const Token = model('Token', {
    ...{ id: p.integer().primary(), value: property, label: p.string() },
    user: () => p.manyToOne(User),
  })
  return compareWithFindOne(t, strategy, peopleOf(User, Token, { value, tokenRow: { value }, ...more }))
}

describe('P1 LookUp and em.findOne agree: values', () => {
  it('string with quotes and question marks', (t) =>
    compareByValue(t, 'prepared', p.string(), `'"\\??$1 \u{1F642}`))
  it('string like an array or NULL of PostgreSQL', async (t) => {
    await compareByValue(t, 'prepared', p.string(), '{"a",NULL}')
    await compareByValue(t, 'prepared', p.string(), 'NULL')
  })
  it('time', (t) => compareByValue(t, 'prepared', p.time(), '08:00:00'))
  it('native enum', onlyPostgres, (t) =>
    compareByValue(t, 'prepared', p.enum(['value', 'other']).nativeEnumName('kind'), 'value'),
  )
  it('lazy scalar reference', (t) => compareByValue(t, 'prepared', p.string().lazy().ref(), 'value'))
  it('integer', (t) => compareByValue(t, 'prepared', p.integer(), 5))
  it('uuid', (t) => compareByValue(t, 'prepared', p.uuid(), uuid))
  it('custom type', (t) => compareByValue(t, 'findOne', p.type(Reversed), 'value'))
  it('relation', (t) =>
    compareByValue(t, 'findOne', p.string(), 'value', { value: 1, lookUpOptions: { property: 'user' } }))
  it('value that is not persisted', (t) =>
    compareByValue(t, 'findOne', p.string().persist(false), 'value', {
      ...{ finds: 'an error', tokenRow: { value: undefined } },
    }))
  it('string, by a number', (t) =>
    compareByValue(t, 'findOne', p.string(), 5, {
      finds: isOnPostgres ? 'an error' : 'an entity',
      tokenRow: { value: '5' },
    }))
  it('integer, by a string', (t) =>
    compareByValue(t, 'findOne', p.integer(), '5', { tokenRow: { value: 5 } }))
  it('character, by a text that begins with the stored one', onlyPostgres, (t) =>
    compareByValue(t, 'prepared', p.character().length(5), 'value', {
      finds: 'nothing',
      tokenRow: { value: 'v' },
    }),
  )
  it('fraction for an integer column', (t) =>
    compareByValue(t, 'findOne', p.integer(), 5.5, {
      finds: 'nothing',
      tokenRow: { value: 5 },
    }))
  it('integer out of range of the column', (t) =>
    compareByValue(t, isOnPostgres ? 'findOne' : 'prepared', p.integer(), 2 ** 40, {
      finds: 'nothing',
      tokenRow: { value: 5 },
    }))
  it('negative zero', (t) => compareByValue(t, 'prepared', p.integer(), -0, { tokenRow: { value: 0 } }))
  it('lone surrogate', (t) =>
    compareByValue(t, 'prepared', p.string(), '\ud800', { tokenRow: { value: '\ufffd' } }))
  it('case-insensitive collation', onlyPostgres, (t) =>
    compareByValue(t, 'prepared', p.string(), 'VALUE', {
      tokenRow: { value: 'value' },
      prepare: async ({ em }) => {
        const execute = (sql: string) => em.getConnection().execute(sql) as Promise<unknown>
        await execute(
          `create collation no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
        )
        await execute('alter table token alter column value type text collate no_case')
      },
    }),
  )
  it('one of several rows', (t) => {
    const fill = async (em: EntityManager, _: unknown, [User, Token]: Model[] = []) => {
      await insert(em, User as Model, { id: 1, name: 'Ada' })
      await insert(em, Token as Model, { id: 2, value: 'value', label: 'laptop', user: 1 })
      await insert(em, Token as Model, { id: 3, value: 'value', label: 'phone', user: 1 })
    }
    return compareByValue(t, 'prepared', p.string(), 'value', { fill: fill as never })
  })
})
