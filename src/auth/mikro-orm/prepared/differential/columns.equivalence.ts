import { after, describe, it, type TestContext } from 'node:test'
import { p } from '@mikro-orm/core'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { Money, MoneyType, ObjectTextType, Reversed, ReversedText } from './custom-types.ts'
import { dropDatabases, onlyPostgres } from './open-database.ts'
import { withColumns } from './people.ts'

after(dropDatabases)

const day = '1815-12-10'
const uuids = ['018f0000-0000-7000-8000-00000000000a', '018f0000-0000-7000-8000-00000000000b']

const compare = (t: TestContext, columns: Parameters<typeof withColumns>[0]) =>
  compareWithFindOne(t, 'prepared', withColumns(columns))

describe('P1 prepared look-ups and em.findOne agree: columns', () => {
  it('texts', (t) =>
    compare(t, {
      string: [p.string(), `a'"\`\\??$1 \u{1F642}`, 'Ångström ?'],
      empty: [p.string(), '', ' '],
      trimmed: [p.string().trim(), ' one ', ' two '],
      lower: [p.string().lowercase(), 'ONE', 'TWO'],
      absent: [p.string().nullable(), null, 'two'],
      removed: [p.string().nullable(), 'one', null],
      text: [p.text(), 'one', 'two'],
      character: [p.character().length(5), 'one', 'two'],
      uuid: [p.uuid(), ...uuids],
      role: [p.enum(['reader', 'editor']), 'reader', 'editor'],
      time: [p.time(), '08:00:00', '09:30:15'],
      interval: [p.interval(), '1 day 02:03:04', '2 days'],
      unknown: [p.unknown().columnType('varchar(20)'), 'one', 'two'],
    }))

  it('numbers and booleans', (t) =>
    compare(t, {
      integer: [p.integer(), 1, -2],
      absent: [p.integer().nullable(), null, 0],
      smallint: [p.smallint(), 1, 2],
      tinyint: [p.tinyint(), 1, 2],
      bigint: [p.bigint(), 2n ** 62n + 1n, 2n ** 62n + 2n],
      bigintNumber: [p.bigint('number'), 2 ** 52 + 1, 2 ** 52 + 2],
      bigintText: [p.bigint('string'), '9223372036854775807', '9223372036854775806'],
      float: [p.float(), 0.5, 0.25],
      double: [p.double(), 0.1 + 0.2, 1e300],
      decimal: [p.decimal().precision(12).scale(2), '12.30', '12.31'],
      decimalNumber: [p.decimal('number').precision(12).scale(2), 12.3, 12.31],
      level: [p.enum([1, 2]), 1, 2],
      boolean: [p.boolean(), true, false],
      absentBoolean: [p.boolean().nullable(), null, true],
      booleanNumber: [p.boolean().columnType('smallint'), 1, 0],
    }))

  it('dates', (t) =>
    compare(t, {
      date: [p.date(), day, '1852-11-27'],
      datetime: [p.datetime(), new Date(`${day}T08:00:00.123Z`), new Date('2026-01-02')],
      precise: [p.datetime(6), new Date(`${day}T08:00:00.123Z`), new Date('2026-01-02')],
      absent: [p.datetime().nullable(), null, new Date(0)],
      zoned: [p.datetime().columnType('timestamptz'), new Date(`${day}T08:00:00Z`), new Date(0)],
      local: [p.datetime().columnType('timestamp'), new Date(`${day}T08:00:00Z`), new Date(0)],
      number: [p.datetime().columnType('bigint'), 5, 6],
      text: [p.datetime().columnType('text'), new Date(0), new Date(1000)],
      class: [p.type(Date), new Date(0), new Date(1000)],
    }))

  it('JSON, arrays and bytes', (t) =>
    compare(t, {
      object: [p.json(), { roles: ['b', 'a'], n: 1.5 }, { roles: [] }],
      list: [p.json(), [1, 'two', null, { three: 3 }], [1]],
      text: [p.json(), 'one', 'two'],
      number: [p.json(), 1, 2],
      absent: [p.json().nullable(), null, { a: 1 }],
      stored: [p.json().columnType('text'), { a: 1 }, { a: 2 }],
      array: [p.array(), ['b', 'a,c', '"d"'], ['b']],
      empty: [p.array(), [], ['b']],
      roles: [p.enum(['reader', 'editor']).array(), ['editor'], ['reader']],
      blob: [p.blob(), Buffer.from([0, 1, 255]), Buffer.from([2])],
      absentBlob: [p.blob().nullable(), null, Buffer.from([2])],
      bytes: [p.uint8array(), Uint8Array.of(0, 1, 255), Uint8Array.of(2)],
    }))

  it('types of PostgreSQL', onlyPostgres, (t) =>
    compare(t, {
      range: [p.string().columnType('int4range'), '[1,2)', '[2,3)'],
      point: [p.unknown().columnType('point'), '(1,2)', '(2,3)'],
      dates: [p.unknown().columnType('date[]'), '{2020-01-01}', '{2020-01-02}'],
      inet: [p.string().columnType('inet'), '10.0.0.1', '10.0.0.2'],
      name: [p.string().columnType('name'), 'One', 'two'],
      numbers: [p.array((text) => Number(text)).columnType('int[]'), [1, 2], [2]],
      collated: [p.string().collation('C'), 'one', 'two'],
    }),
  )

  it('custom types', (t) =>
    compare(t, {
      reversed: [p.type(Reversed), 'one', 'two'],
      // MikroORM does not call these types for null.
      throws: [p.type(ReversedText).nullable(), null, 'two'],
      money: [p.type(MoneyType), new Money(150), new Money(275)],
      object: [p.type(ObjectTextType), { a: 1 }, { a: 2 }],
    }))

  it('names and serialisation', (t) =>
    compare(t, {
      hidden: [p.string().hidden(), 'one', 'two'],
      serialized: [p.string().serializer((value) => `<${value}>`), 'one', 'two'],
      renamed: [p.string().serializedName('other'), 'one', 'two'],
      grouped: [p.string().groups('private'), 'one', 'two'],
      quoted: [p.string().fieldName('A "b" c'), 'one', 'two'],
      reserved: [p.string().fieldName('select'), 'one', 'two'],
      one: [p.string().fieldName('two'), '1', '3'],
      two: [p.string().fieldName('one'), '2', '4'],
      _underscore: [p.string(), 'one', 'two'],
    }))
})
