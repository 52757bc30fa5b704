import { after, describe, it, type TestContext } from 'node:test'
import { type MikroORM, p, UnderscoreNamingStrategy } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, isOnPostgres } from './open-database.ts'
import { people, type Variation } from './people.ts'

after(dropDatabases)

const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

// 61 characters, so that PostgreSQL shortens the alias of the joined column.
const long = `c${'_long'.repeat(12)}`

class ShortAliases extends UnderscoreNamingStrategy {
  override aliasName(_: string, index: number): string {
    return index === 0 ? 'k' : `u${index}`
  }
}

describe('P1 LookUp and em.findOne agree: names', () => {
  it('property named like the alias of a joined column', (t) =>
    compare(t, 'findOne', { token: { u1__id: p.integer().fieldName('other') }, tokenRow: { u1__id: 5 } }))
  it('column named like the alias of a joined property that is not persisted', (t) =>
    compare(t, 'findOne', {
      user: { absent: p.string().persist(false).nullable() },
      token: { special: p.string().fieldName('u1__absent') },
      tokenRow: { special: 'one' },
    }))
  it('non-persisted property for the column of the relation', (t) =>
    compare(t, 'prepared', { token: { userId: p.integer().fieldName('user_id').persist(false) } }))
  it('long name of a column', (t) =>
    compare(t, 'prepared', {
      user: { special: p.string().fieldName(long) },
      token: { special: p.string().fieldName(long) },
      userRow: { special: 'one' },
      tokenRow: { special: 'two' },
    }))
  // On PostgreSQL, the prepared statement reads its keys from a column `v`, too.
  it('short table aliases, and a column `v`', (t) =>
    compare(t, 'prepared', {
      options: { namingStrategy: ShortAliases },
      token: { v: p.string() },
      tokenRow: { v: 'other', value: 'other' },
      value: 'value',
      finds: 'nothing',
    }))
  // PostgreSQL rejects a prepared statement whose columns have changed.
  it('column that is not a property, added later', (t) =>
    compare(t, isOnPostgres ? 'findOne' : 'prepared', {
      later: async (orm: MikroORM) => {
        await orm.em.getConnection().execute('alter table token add column extra integer default 1')
      },
    }))
})
