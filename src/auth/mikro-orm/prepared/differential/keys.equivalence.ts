import { after, describe, it, type TestContext } from 'node:test'
import { type EntityManager, p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { Money, MoneyType, Reversed } from './custom-types.ts'
import { dropDatabases, isOnPostgres, onlyPostgres } from './open-database.ts'
import { insert, model, people, peopleOf, tokensOf, type Variation } from './people.ts'

after(dropDatabases)

const uuid = '018f0000-0000-7000-8000-00000000000a'

/** Compares `KeyLookUp` with `em.findOne` for a type of primary key. */
function compareByKey(t: TestContext, strategy: Strategy, property: unknown, key: unknown) {
  const User = model('User', { id: property, name: p.string() })
  return compareWithFindOne(t, strategy, {
    entities: [User],
    lookUpOptions: { model: User, property: 'id' },
    value: typeof key === 'number' ? key : String(key),
    byKey: String(key),
    fill: (em) => insert(em, User, { id: key, name: 'Ada' }),
    change: (user) => Object.assign(user, { name: 'Grace' }),
  })
}

/** Compares a look-up by token. The user and the token have this type of primary key. */
function compareByToken(t: TestContext, strategy: Strategy, property: () => unknown, key: unknown) {
  const User = model('User', { id: property(), name: p.string() })
  const Token = model('Token', {
    ...{ id: property(), value: p.string(), label: p.string() },
    user: () => p.manyToOne(User),
  })
  const variation = { userRow: { id: key }, tokenRow: { id: key, user: key } }
  return compareWithFindOne(t, strategy, peopleOf(User, Token, variation))
}

/** Compares a look-up by a column of this type. */
function compareByValue(
  t: TestContext,
  strategy: Strategy,
  property: unknown,
  value: string | number,
  more?: Variation,
) {
  const variation = { token: { value: property }, value, tokenRow: { value }, ...more }
  return compareWithFindOne(t, strategy, people(variation))
}

describe('P1 prepared look-ups and em.findOne agree: primary keys', () => {
  it('integer, bigint, uuid and string', async (t) => {
    await compareByKey(t, 'prepared', p.integer().primary(), 1)
    await compareByKey(t, 'prepared', p.bigint().primary(), 2n ** 53n + 1n)
    await compareByKey(t, 'prepared', p.uuid().primary(), uuid)
    await compareByKey(t, 'prepared', p.string().primary(), "a'b")
  })
  it('of a token and its user', async (t) => {
    for (const type of ['bigint', 'number', 'string'] as const)
      await compareByToken(t, 'prepared', () => p.bigint(type).primary(), 5)
    await compareByToken(t, 'prepared', () => p.uuid().primary(), uuid)
    await compareByToken(t, 'prepared', () => p.datetime().primary(), new Date(0))
    const written = () =>
      p
        .integer()
        .primary()
        .serializer((id) => `#${id}`)
    await compareByToken(t, 'prepared', written, 5)
  })

  it('uses em.findOne for keys that are converted', async (t) => {
    await compareByKey(t, 'findOne', p.string().lowercase().primary(), 'ada')
    await compareByKey(t, 'findOne', p.decimal().precision(9).scale(2).primary(), '1.50')
    await compareByKey(t, 'findOne', p.type(Reversed).primary(), 'ada')
    await compareByToken(t, 'findOne', () => p.blob().primary(), Buffer.from([1, 2]))
    await compareByToken(t, 'findOne', () => p.type(MoneyType).primary(), new Money(5))
  })
  it('uses em.findOne for keys of several columns, for relations and for serialized keys', async (t) => {
    const Pair = model('User', { id: p.integer().primary(), org: p.integer().primary(), name: p.string() })
    const PairToken = tokensOf(Pair)
    const fillPair = async (em: EntityManager) => {
      await insert(em, Pair, { id: 1, org: 3, name: 'Ada' })
      await insert(em, PairToken, { id: 2, value: 'value', label: 'laptop', user: [1, 3] })
    }
    await compareWithFindOne(t, 'findOne', peopleOf(Pair, PairToken, { fill: fillPair }))
    const Person = model('Person', { id: p.integer().primary() })
    const User = model('User', { person: () => p.oneToOne(Person).primary().owner(), name: p.string() })
    const Token = tokensOf(User)
    const fill = async (em: EntityManager) => {
      await insert(em, Person, { id: 1 })
      await insert(em, User, { person: 1, name: 'Ada' })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1 })
    }
    await compareWithFindOne(t, 'findOne', peopleOf(User, Token, { entities: [Person], fill }))
    const key = p.string().serializedPrimaryKey().persist(false)
    const Serialized = model('User', { id: p.integer().primary(), key, name: p.string() })
    await compareWithFindOne(t, 'findOne', peopleOf(Serialized, tokensOf(Serialized)))
  })
})

describe('P1 prepared look-ups and em.findOne agree: values', () => {
  it('texts', async (t) => {
    for (const text of [`'"\\??$1 \u{1F642}`, '{"a",NULL}', 'NULL'])
      await compareByValue(t, 'prepared', p.string(), text)
    await compareByValue(t, 'prepared', p.string(), '\ud800', { tokenRow: { value: '\ufffd' } })
    await compareByValue(t, 'prepared', p.string().lazy().ref(), 'value')
    await compareByValue(t, 'prepared', p.uuid(), uuid)
  })
  it('numbers', async (t) => {
    await compareByValue(t, 'prepared', p.integer(), 5)
    await compareByValue(t, 'prepared', p.integer(), -0, { tokenRow: { value: 0 } })
    await compareByValue(t, 'prepared', p.integer(), 2 ** 40, { finds: 'nothing', tokenRow: { value: 5 } })
    await compareByValue(t, 'findOne', p.integer(), 5.5, { finds: 'nothing', tokenRow: { value: 5 } })
  })
  it('one of several rows', (t) => {
    const User = model('User', { id: p.integer().primary(), name: p.string() })
    const Token = tokensOf(User)
    const fill = async (em: EntityManager) => {
      await insert(em, User, { id: 1, name: 'Ada' })
      for (const label of ['laptop', 'phone'])
        await insert(em, Token, { id: label.length, value: 'value', label, user: 1 })
    }
    return compareWithFindOne(t, 'prepared', peopleOf(User, Token, { fill }))
  })
  it('case-insensitive collation', onlyPostgres, (t) =>
    compareByValue(t, 'prepared', p.string(), 'VALUE', {
      tokenRow: { value: 'value' },
      async prepare({ em }) {
        const options = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
        await em.getConnection().execute(`create collation no_case (${options})`)
        await em.getConnection().execute('alter table token alter value type text collate no_case')
      },
    }),
  )

  it('uses em.findOne for values that may be converted', async (t) => {
    await compareByValue(t, 'findOne', p.time(), '08:00:00')
    await compareByValue(t, isOnPostgres ? 'findOne' : 'prepared', p.character().length(5), 'value')
    await compareByValue(t, 'findOne', p.type(Reversed), 'value')
    await compareByValue(t, 'findOne', p.integer(), '5', { tokenRow: { value: 5 } })
    await compareByValue(t, 'findOne', p.string(), 5, {
      finds: isOnPostgres ? 'an error' : 'an entity',
      tokenRow: { value: '5' },
    })
    await compareByValue(t, 'findOne', p.string(), 'value', { value: 1, lookUpOptions: { property: 'user' } })
    const unsaved: Variation = { finds: 'an error', tokenRow: { value: undefined } }
    await compareByValue(t, 'findOne', p.string().persist(false), 'value', unsaved)
  })
})
