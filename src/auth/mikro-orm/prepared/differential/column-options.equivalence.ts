import { after, describe, it } from 'node:test'
import { p } from '@mikro-orm/core'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { UpperType } from './custom-types.ts'
import { dropDatabases } from './open-database.ts'
import { people, withColumns } from './people.ts'

after(dropDatabases)

describe('P1 prepared look-ups and em.findOne agree: options of columns', () => {
  it('values that a flush makes or checks', (t) => {
    const columns = () => ({
      made: p.string().onCreate(() => 'created'),
      updated: p
        .string()
        .default('')
        .onUpdate(() => 'updated'),
      version: p.integer().version(),
      checked: p.string().concurrencyCheck(),
      raw: p.integer().defaultRaw('(1 + 1)'),
      generated: p.integer().generated('(id * 2) stored'),
      absent: p.string().persist(false).nullable(),
      returned: p.string().returning(),
    })
    const row = { made: 'one', checked: 'one', returned: 'one' }
    const both = { user: columns(), token: columns(), userRow: row, tokenRow: row }
    return compareWithFindOne(t, 'prepared', people(both))
  })

  it('lazy columns', (t) => {
    const columns = () => ({
      lazy: p.string().lazy(),
      defaulted: p.string().default('none').lazy(),
      absent: p.string().nullable().lazy(),
      hidden: p.string().lazy().hidden(),
      date: p.datetime().lazy(),
      json: p.json().lazy(),
      reference: p.string().ref(),
      lazyReference: p.string().default('one').lazy().ref(),
      version: p.integer().version().lazy(),
      checked: p.string().lazy().concurrencyCheck(),
    })
    const row = {
      lazy: 'one',
      hidden: 'one',
      date: new Date(0),
      json: { a: 1 },
      reference: 'one',
      checked: 'one',
    }
    const both = { user: columns(), token: columns(), userRow: row, tokenRow: row }
    return compareWithFindOne(t, 'prepared', people(both))
  })

  it('uses em.findOne for columns that are converted in SQL or by an accessor', async (t) => {
    for (const property of [
      () => p.type(UpperType),
      () => p.string().hydrate(false),
      () => p.string().accessor('other'),
      () => p.string().setter(),
    ])
      await compareWithFindOne(t, 'findOne', withColumns({ special: [property(), 'one', 'two'] }))
    const formula = () => p.string().formula((of) => `upper(${of}.id || 'x')`)
    await compareWithFindOne(t, 'findOne', people({ user: { special: formula() } }))
  })
})
