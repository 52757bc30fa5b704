import { after, describe, it, type TestContext } from 'node:test'
import { p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import {
  DateTextType,
  InitialType,
  Money,
  MoneyType,
  NeverNullType,
  ObjectTextType,
  PlatformType,
  PointType,
  Reversed,
  ReversedText,
  UpperType,
  WrittenUpperType,
} from './custom-types.ts'
import { dropDatabases, onlyPostgres } from './open-database.ts'
import { people, withColumn } from './people.ts'

after(dropDatabases)

/** Compares `LookUp` with `em.findOne` for an additional string column. */
function compare(t: TestContext, strategy: Strategy, property: () => unknown, value = 'one', other = 'two') {
  return compareWithFindOne(t, strategy, withColumn(property, value, other))
}

/** Compares `LookUp` with `em.findOne` for an additional column without an inserted value. */
function compareWithout(t: TestContext, strategy: Strategy, property: () => unknown) {
  const special = { special: property() }
  return compareWithFindOne(t, strategy, people({ user: special, token: special }))
}

describe('P1 LookUp and em.findOne agree: options of columns', () => {
  it('default', (t) => compareWithout(t, 'prepared', () => p.string().default('none')))
  it('raw default', (t) => compareWithout(t, 'prepared', () => p.integer().defaultRaw('(1 + 1)')))
  it('onCreate', (t) => compare(t, 'prepared', () => p.string().onCreate(() => 'created')))
  it('onUpdate', (t) =>
    compareWithout(t, 'prepared', () =>
      p
        .string()
        .default('')
        .onUpdate(() => 'updated'),
    ))
  it('version number', (t) => compareWithout(t, 'prepared', () => p.integer().version()))
  it('version date', (t) => compareWithout(t, 'prepared', () => p.datetime().version()))
  it('concurrency check', (t) => compare(t, 'prepared', () => p.string().concurrencyCheck()))
  it('nullable', (t) => compareWithout(t, 'prepared', () => p.string().nullable()))
  it('lazy', (t) => compare(t, 'prepared', () => p.string().lazy()))
  it('lazy reference', (t) => compareWithout(t, 'prepared', () => p.string().default('one').lazy().ref()))
  it('lazy, hidden', (t) => compare(t, 'prepared', () => p.string().lazy().hidden()))
  it('lazy, with a default', (t) => compare(t, 'prepared', () => p.string().default('none').lazy()))
  it('lazy, nullable', (t) => compare(t, 'prepared', () => p.string().nullable().lazy()))
  it('lazy, with a serialized name', (t) =>
    compare(t, 'prepared', () => p.string().lazy().serializedName('other')))
  it('lazy, with onUpdate', (t) =>
    compare(t, 'prepared', () =>
      p
        .string()
        .lazy()
        .onUpdate(() => 'updated'),
    ))
  it('lazy concurrency check', (t) => compare(t, 'prepared', () => p.string().lazy().concurrencyCheck()))
  it('lazy version', (t) => compareWithout(t, 'prepared', () => p.integer().version().lazy()))
  it('lazy date', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.datetime().lazy(), new Date(0), new Date(1000)),
    ))
  it('lazy JSON', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.json().lazy(), { a: 1 }, { a: 2 }),
    ))
  it('formula', (t) =>
    compareWithout(t, 'findOne', () => p.string().formula((of) => `upper(${of}.id || 'x')`)))
  it('generated', (t) => compareWithout(t, 'prepared', () => p.integer().generated('(id * 2) stored')))
  it('not persisted', (t) => compareWithout(t, 'prepared', () => p.string().persist(false).nullable()))
  it('not persisted, mapped to the column of a date property', (t) => {
    const columns = { at: p.datetime(), same: p.datetime().fieldName('at').persist(false) }
    const row = { at: new Date(0) }
    const both = { user: columns, token: columns, userRow: row, tokenRow: row }
    return compareWithFindOne(t, 'prepared', people(both))
  })
  it('not persisted, mapped to the columns of two properties', (t) => {
    const columns = { left: p.integer(), right: p.integer() }
    const pair = p.unknown().persist(false).fieldNames('left', 'right')
    const user = { ...columns, pair }
    return compareWithFindOne(t, 'findOne', people({ user, userRow: { left: 3, right: 4 } }))
  })
  it('not persisted, with a default', (t) =>
    compareWithout(t, 'prepared', () => p.string().persist(false).default('none')))
  it('not hydrated', (t) => compare(t, 'findOne', () => p.string().hydrate(false)))
  it('hidden', (t) => compare(t, 'prepared', () => p.string().hidden()))
  it('serializer', (t) => compare(t, 'prepared', () => p.string().serializer((value) => `<${value}>`)))
  it('serialized name', (t) => compare(t, 'prepared', () => p.string().serializedName('other')))
  it('groups', (t) => compare(t, 'prepared', () => p.string().groups('private')))
  it('field name', (t) => compare(t, 'prepared', () => p.string().fieldName('A "b" c')))
  it('field name like a reserved word', (t) => compare(t, 'prepared', () => p.string().fieldName('select')))
  it('field name like the alias of a joined column', (t) =>
    compare(t, 'findOne', () => p.string().fieldName('u1__id')))
  it('column type', (t) => compare(t, 'prepared', () => p.string().columnType('varchar(77)')))
  it('index', (t) => compare(t, 'prepared', () => p.string().index()))
  it('unique', (t) => compare(t, 'prepared', () => p.string().unique()))
  it('check', (t) => compare(t, 'prepared', () => p.string().check("special <> ''")))
  it('comment', (t) => compare(t, 'prepared', () => p.string().comment("it's")))
  it('collation', onlyPostgres, (t) => compare(t, 'prepared', () => p.string().collation('C')))
  it('custom order', (t) => compare(t, 'prepared', () => p.string().customOrder('two', 'one')))
  it('returning', (t) => compare(t, 'prepared', () => p.string().returning()))
  it('accessor', (t) => compare(t, 'findOne', () => p.string().accessor('other')))
  it('setter', (t) => compare(t, 'findOne', () => p.string().setter()))
  it('scalar reference', (t) => {
    const special = { special: p.string().ref() }
    const row = { special: 'one' }
    return compareWithFindOne(
      t,
      'prepared',
      people({ user: special, token: special, userRow: row, tokenRow: row }),
    )
  })
  it('scalar reference to null', (t) => compareWithout(t, 'prepared', () => p.string().nullable().ref()))
  it('name with an underscore', (t) => {
    const special = { _special: p.string() }
    const row = { _special: 'one' }
    return compareWithFindOne(
      t,
      'prepared',
      people({ user: special, token: special, userRow: row, tokenRow: row }),
    )
  })
})

describe('P1 LookUp and em.findOne agree: custom types', () => {
  it('conversion', (t) => compare(t, 'prepared', () => p.type(Reversed)))
  it('type that throws for null, with a null', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(ReversedText).nullable(), null, 'two'),
    ))
  it('type that maps null, with a null', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(NeverNullType).nullable(), null, 'two'),
    ))
  it('value object with a private field', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(MoneyType), new Money(150), new Money(275)),
    ))
  it('custom comparison', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(PointType), { x: 1, y: 2 }, { x: 1, y: 3 }),
    ))
  it('conversion in SQL', (t) => compare(t, 'findOne', () => p.type(UpperType)))
  it('conversion in SQL on write', (t) => compare(t, 'prepared', () => p.type(WrittenUpperType)))
  it('date', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(DateTextType), new Date(0), new Date(1000)),
    ))
  it('object whose snapshot is the text in the row', (t) =>
    compareWithFindOne(
      t,
      'prepared',
      withColumn(() => p.type(ObjectTextType), { a: 1 }, { a: 2 }),
    ))
  it('custom JSON', (t) => compare(t, 'prepared', () => p.type(InitialType)))
  it('type that depends on the platform', (t) => compare(t, 'prepared', () => p.type(PlatformType)))
})
