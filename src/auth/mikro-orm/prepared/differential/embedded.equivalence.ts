import { after, describe, it, type TestContext } from 'node:test'
import { p } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { model, people, type Variation } from './people.ts'

after(dropDatabases)

const address = () =>
  model('Address', { city: p.string(), since: p.datetime().nullable() }, { embeddable: true })
const london = { city: 'London', since: new Date(0) }

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

describe('P1 LookUp and em.findOne agree: embedded objects', () => {
  it('columns of the user', (t) => {
    const Address = address()
    return compare(t, 'findOne', {
      entities: [Address],
      user: { home: () => p.embedded(Address) },
      userRow: { home: london },
    })
  })
  it('columns of the token', (t) => {
    const Address = address()
    return compare(t, 'findOne', {
      entities: [Address],
      token: { home: () => p.embedded(Address).prefix('at_').prefixMode('absolute') },
      tokenRow: { home: london },
    })
  })
  it('columns that are null', (t) => {
    const Address = address()
    return compare(t, 'findOne', {
      entities: [Address],
      user: { home: () => p.embedded(Address).nullable() },
    })
  })
  it('object', (t) => {
    const Address = address()
    return compare(t, 'findOne', {
      entities: [Address],
      user: { home: () => p.embedded(Address).object() },
      userRow: { home: london },
    })
  })
  it('array', (t) => {
    const Address = address()
    return compare(t, 'findOne', {
      entities: [Address],
      user: { homes: () => p.embedded(Address).array() },
      userRow: { homes: [london, { city: 'Paris', since: null }] },
    })
  })
  it('embedded object in an embedded object', (t) => {
    const Address = address()
    const Home = model(
      'Home',
      { floor: p.integer(), address: () => p.embedded(Address) },
      { embeddable: true },
    )
    return compare(t, 'findOne', {
      entities: [Address, Home],
      user: { home: () => p.embedded(Home) },
      userRow: { home: { floor: 2, address: london } },
    })
  })
})
