import { after, describe, it, type TestContext } from 'node:test'
import { p } from '@mikro-orm/core'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres, onlySqlite } from './open-database.ts'
import { people, withColumn } from './people.ts'

after(dropDatabases)

/** Compares `LookUp` with `em.findOne` for an additional column, which a prepared statement must load. */
function comparePrepared(
  t: TestContext,
  property: () => unknown,
  value: unknown,
  other: unknown,
): Promise<void> {
  return compareWithFindOne(t, 'prepared', withColumn(property, value, other))
}

const day = '1815-12-10'
const uuids = ['018f0000-0000-7000-8000-00000000000a', '018f0000-0000-7000-8000-00000000000b'] as const

describe('P1 LookUp and em.findOne agree: scalar columns', () => {
  it('no additional column', (t) => compareWithFindOne(t, 'prepared', people()))
  it('string', (t) => comparePrepared(t, () => p.string(), 'one', 'two'))
  it('string that is empty', (t) => comparePrepared(t, () => p.string(), '', ' '))
  it('string with quotes, question marks and other scripts', (t) =>
    comparePrepared(t, () => p.string(), `a'"\`\\??$1 \u{1F642}`, 'Ångström ?'))
  it('string that is trimmed', (t) => comparePrepared(t, () => p.string().trim(), ' one ', ' two '))
  it('string in lower case', (t) => comparePrepared(t, () => p.string().lowercase(), 'ONE', 'TWO'))
  it('string with a length', (t) => comparePrepared(t, () => p.string().length(10), 'one', 'two'))
  it('string that is null', (t) => comparePrepared(t, () => p.string().nullable(), null, 'two'))
  it('string that becomes null', (t) => comparePrepared(t, () => p.string().nullable(), 'one', null))
  it('text', (t) => comparePrepared(t, () => p.text(), 'one', 'two'))
  it('character', (t) => comparePrepared(t, () => p.character().length(5), 'one', 'two'))
  it('integer', (t) => comparePrepared(t, () => p.integer(), 1, -2))
  it('integer that is null', (t) => comparePrepared(t, () => p.integer().nullable(), null, 0))
  it('smallint', (t) => comparePrepared(t, () => p.smallint(), 1, 2))
  it('tinyint', (t) => comparePrepared(t, () => p.tinyint(), 1, 2))
  it('mediumint', onlySqlite, (t) => comparePrepared(t, () => p.mediumint(), 1, 2))
  it('unsigned integer', (t) => comparePrepared(t, () => p.integer().unsigned(), 1, 2))
  it('bigint', (t) => comparePrepared(t, () => p.bigint(), 2n ** 62n + 1n, 2n ** 62n + 2n))
  it('bigint as a number', (t) => comparePrepared(t, () => p.bigint('number'), 2 ** 52 + 1, 2 ** 52 + 2))
  it('bigint as a string', (t) =>
    comparePrepared(t, () => p.bigint('string'), '9223372036854775807', '9223372036854775806'))
  it('bigint that is null', (t) => comparePrepared(t, () => p.bigint().nullable(), null, 1n))
  it('float', (t) => comparePrepared(t, () => p.float(), 0.5, 0.25))
  it('double', (t) => comparePrepared(t, () => p.double(), 0.1 + 0.2, 1e300))
  it('decimal', (t) => comparePrepared(t, () => p.decimal().precision(12).scale(2), '12.30', '12.31'))
  it('decimal as a number', (t) =>
    comparePrepared(t, () => p.decimal('number').precision(12).scale(2), 12.3, 12.31))
  it('boolean', (t) => comparePrepared(t, () => p.boolean(), true, false))
  it('boolean that is null', (t) => comparePrepared(t, () => p.boolean().nullable(), null, true))
  it('date', (t) => comparePrepared(t, () => p.date(), day, '1852-11-27'))
  it('datetime', (t) =>
    comparePrepared(t, () => p.datetime(), new Date(`${day}T08:00:00.123Z`), new Date('2026-01-02')))
  it('datetime with microseconds', (t) =>
    comparePrepared(t, () => p.datetime(6), new Date(`${day}T08:00:00.123Z`), new Date('2026-01-02')))
  it('datetime that is null', (t) => comparePrepared(t, () => p.datetime().nullable(), null, new Date(0)))
  it('timestamp with a time zone', (t) =>
    comparePrepared(
      ...([
        t,
        () => p.datetime().columnType('timestamptz'),
        new Date(`${day}T08:00:00Z`),
        new Date(0),
      ] as const),
    ))
  it('timestamp without a time zone', (t) =>
    comparePrepared(
      ...([
        t,
        () => p.datetime().columnType('timestamp'),
        new Date(`${day}T08:00:00Z`),
        new Date(0),
      ] as const),
    ))
  it('datetime in a column of numbers', (t) =>
    comparePrepared(t, () => p.datetime().columnType('bigint'), 5, 6))
  it('datetime in a column of text', (t) =>
    comparePrepared(t, () => p.datetime().columnType('text'), new Date(0), new Date(1000)))
  it('boolean in a column of numbers', (t) =>
    comparePrepared(t, () => p.boolean().columnType('smallint'), 1, 0))
  it('json in a column of text', (t) =>
    comparePrepared(t, () => p.json().columnType('text'), { a: 1 }, { a: 2 }))
  it('range', onlyPostgres, (t) =>
    comparePrepared(t, () => p.string().columnType('int4range'), '[1,2)', '[2,3)'),
  )
  it('point', onlyPostgres, (t) =>
    comparePrepared(t, () => p.unknown().columnType('point'), '(1,2)', '(2,3)'),
  )
  it('array of dates', onlyPostgres, (t) =>
    comparePrepared(t, () => p.unknown().columnType('date[]'), '{2020-01-01}', '{2020-01-02}'),
  )
  it('time', (t) => comparePrepared(t, () => p.time(), '08:00:00', '09:30:15'))
  it('json object', (t) => comparePrepared(t, () => p.json(), { roles: ['b', 'a'], n: 1.5 }, { roles: [] }))
  it('json array', (t) => comparePrepared(t, () => p.json(), [1, 'two', null, { three: 3 }], [1]))
  it('json string', (t) => comparePrepared(t, () => p.json(), 'one', 'two'))
  it('json number', (t) => comparePrepared(t, () => p.json(), 1, 2))
  it('json that is null', (t) => comparePrepared(t, () => p.json().nullable(), null, { a: 1 }))
  it('array', (t) => comparePrepared(t, () => p.array(), ['b', 'a,c', '"d"'], ['b']))
  it('array that is empty', (t) => comparePrepared(t, () => p.array(), [], ['b']))
  it('array of numbers', (t) =>
    comparePrepared(
      ...([
        t,
        () =>
          p.array(
            (text) => Number(text),
            (value: number) => String(value),
          ),
        [1, 2],
        [2],
      ] as const),
    ))
  it('enum', (t) => comparePrepared(t, () => p.enum(['reader', 'editor']), 'reader', 'editor'))
  it('enum of numbers', (t) => comparePrepared(t, () => p.enum([1, 2]), 1, 2))
  it('enum array', (t) =>
    comparePrepared(t, () => p.enum(['reader', 'editor']).array(), ['editor'], ['reader']))
  it('native enum', onlyPostgres, (t) =>
    comparePrepared(
      ...([t, () => p.enum(['reader', 'editor']).nativeEnumName('role'), 'reader', 'editor'] as const),
    ),
  )
  it('interval', (t) => comparePrepared(t, () => p.interval(), '1 day 02:03:04', '2 days'))
  it('blob', (t) => comparePrepared(t, () => p.blob(), Buffer.from([0, 1, 255]), Buffer.from([2])))
  it('blob that is null', (t) => comparePrepared(t, () => p.blob().nullable(), null, Buffer.from([2])))
  it('uint8array', (t) =>
    comparePrepared(t, () => p.uint8array(), Uint8Array.of(0, 1, 255), Uint8Array.of(2)))
  it('uuid', (t) => comparePrepared(t, () => p.uuid(), ...uuids))
  it('unknown type', (t) => comparePrepared(t, () => p.unknown().columnType('varchar(20)'), 'one', 'two'))
  it('JavaScript class as the type', (t) =>
    comparePrepared(t, () => p.type(Date), new Date(0), new Date(1000)))
  it('name of a column type as the type', (t) => comparePrepared(t, () => p.type('varchar'), 'one', 'two'))
  it('inet', onlyPostgres, (t) =>
    comparePrepared(t, () => p.string().columnType('inet'), '10.0.0.1', '10.0.0.2'),
  )
  it('name', onlyPostgres, (t) => comparePrepared(t, () => p.string().columnType('name'), 'One', 'two'))
  it('integer array of PostgreSQL', onlyPostgres, (t) =>
    comparePrepared(t, () => p.array((text) => Number(text)).columnType('int[]'), [1, 2], [2]),
  )
})
