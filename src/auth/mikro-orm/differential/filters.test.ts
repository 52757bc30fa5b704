import { after, describe, it, type TestContext } from 'node:test'
import { type MikroORM, p } from '@mikro-orm/core'
import type { Way } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres } from './open-database.ts'
import { people, type Special } from './people.ts'

after(dropDatabases)

/** Users who may be deleted softly, which the filter hides. */
const softly = (filter: object = {}, row: object = {}): Special => ({
  user: { deletedAt: p.datetime().nullable() },
  userOptions: {
    filters: { here: { name: 'here', cond: { deletedAt: null }, default: true, ...filter } },
  },
  userRow: row as Special['userRow'] & object,
})
const gone = { deletedAt: new Date(0) }
const tokensOf = (cond: unknown, filter: object = {}): Special => ({
  token: { tenant: p.string().nullable() },
  tokenRow: { tenant: 'a' },
  tokenOptions: { filters: { tenant: { name: 'tenant', cond, default: true, ...filter } } },
})

/** Compares users and tokens with something special, and the way of the look-up. */
const compare = (t: TestContext, way: Way, special: Special) => compareWithFindOne(t, way, people(special))
const compareHidden = (t: TestContext, way: Way, special: Special) =>
  compare(t, way, { ...special, finds: 'nothing' })

describe('LookUp, of filters of the user, finds as em.findOne does', () => {
  it('user who passes', (t) => compare(t, 'prepared', softly()))
  it('user who is hidden', (t) => compareHidden(t, 'prepared', softly({}, gone)))
  it('filter that is off', (t) => compare(t, 'prepared', softly({ default: false }, gone)))
  it('filter that the relation turns off', (t) =>
    compare(t, 'prepared', { ...softly({}, gone), relate: (User) => p.manyToOne(User).filters(false) }))
  it('filter that the relation turns off by name', (t) =>
    compare(t, 'prepared', {
      ...softly({}, gone),
      relate: (User) => p.manyToOne(User).filters({ here: false }),
    }))
  it('filter that the relation turns on', (t) =>
    compareHidden(t, 'prepared', {
      ...softly({ default: false }, gone),
      relate: (User) => p.manyToOne(User).filters({ here: true }),
    }))
  it('filter that the relation turns on by list', (t) =>
    compareHidden(t, 'prepared', {
      ...softly({ default: false }, gone),
      relate: (User) => p.manyToOne(User).filters(['here']),
    }))
  it('nullable relation to a user who is hidden', (t) =>
    compare(t, 'prepared', {
      ...softly({}, gone),
      relate: (User) => p.manyToOne(User).nullable(),
    }))
  it('nullable relation to a user who passes', (t) =>
    compare(t, 'prepared', { ...softly(), relate: (User) => p.manyToOne(User).nullable() }))
  it('nullable relation to nobody', (t) =>
    compare(t, 'prepared', {
      ...softly(),
      relate: (User) => p.manyToOne(User).nullable(),
      tokenRow: { user: null },
    }))
  it('reference to a user who is hidden', (t) =>
    compareHidden(t, 'prepared', { ...softly({}, gone), relate: (User) => p.manyToOne(User).ref() }))
  it('user who is hidden, without filters of relations', (t) =>
    compare(t, 'prepared', { ...softly({}, gone), options: { filtersOnRelations: false } }))
  it('user who is hidden, without joins for filters', (t) =>
    compareHidden(t, 'prepared', { ...softly({}, gone), options: { autoJoinRefsForFilters: false } }))
  it('function', (t) => compareHidden(t, 'findOne', softly({ cond: () => ({ deletedAt: null }) }, gone)))
  it('function that the relation turns on', (t) =>
    compareHidden(t, 'findOne', {
      ...softly({ cond: () => ({ deletedAt: null }), default: false }, gone),
      options: { allowGlobalContext: true },
      relate: (User) => p.manyToOne(User).filters({ here: true }),
    }))
  it('relation that is not loaded', (t) =>
    compareHidden(t, 'findOne', { ...softly({}, gone), sought: { relation: undefined } }))
  it('strict filter', (t) => compareHidden(t, 'prepared', softly({ strict: true }, gone)))
})

describe('LookUp, of filters of the token, finds as em.findOne does', () => {
  it('equal value', (t) => compare(t, 'prepared', tokensOf({ tenant: 'a' })))
  it('other value', (t) => compareHidden(t, 'prepared', tokensOf({ tenant: 'b' })))
  it('operators', (t) => compare(t, 'prepared', tokensOf({ tenant: { $in: ['a', 'b'], $ne: null } })))
  it('alternatives', (t) => compare(t, 'prepared', tokensOf({ $or: [{ tenant: 'b' }, { id: { $gt: 0 } }] })))
  it('question mark', (t) =>
    compare(t, 'prepared', { ...tokensOf({ tenant: "?'" }), tokenRow: { tenant: "?'" } }))
  it('condition on the user', (t) => compare(t, 'prepared', tokensOf({ user: { name: 'Ada' } })))
  it('condition on another user', (t) => compareHidden(t, 'prepared', tokensOf({ user: { name: 'Grace' } })))
  it('function', (t) =>
    compare(
      t,
      'findOne',
      tokensOf(() => ({ tenant: 'a' })),
    ))
  it('function with parameters', (t) =>
    compare(t, 'findOne', {
      ...tokensOf(({ tenant }: { tenant: string }) => ({ tenant })),
      options: { allowGlobalContext: true },
      prepare: ({ em }) => em.setFilterParams('tenant', { tenant: 'a' }),
    }))
  it('function with parameters that are missing', (t) =>
    compare(t, 'findOne', {
      ...tokensOf(({ tenant }: { tenant: string }) => ({ tenant })),
      finds: 'an error',
    }))
  it('constant with row-level security', onlyPostgres, (t) =>
    compare(t, 'findOne', tokensOf({ tenant: 'a' }, { rls: true, args: false })),
  )
})

const inConfig = (cond: unknown, more: object = {}) => ({
  filters: { here: { cond, default: true, ...more } } as never,
})
const deletable: Special = { user: { deletedAt: p.datetime().nullable() }, userRow: gone }

describe('LookUp, of filters of the application, finds as em.findOne does', () => {
  it('configuration, of one entity', (t) =>
    compareHidden(t, 'prepared', {
      ...deletable,
      options: inConfig({ deletedAt: null }, { entity: 'User' }),
    }))
  it('configuration, of all entities', (t) =>
    compareHidden(t, 'prepared', {
      ...{ userRow: { tenant: 'b' }, tokenRow: { tenant: 'a' } },
      ...{ user: { tenant: p.string() }, token: { tenant: p.string() } },
      options: inConfig({ tenant: 'a' }),
    }))
  it('configuration, function', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      options: inConfig(() => ({ deletedAt: null }), { entity: 'User' }),
    }))
  it('configuration, function, with a global context', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      options: {
        ...inConfig(() => ({ deletedAt: null }), { entity: 'User' }),
        allowGlobalContext: true,
      },
    }))
  it('em.addFilter after the first look-up, which the relation turns on', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      relate: (User) => p.manyToOne(User).filters({ here: true }),
      later: ({ em }) =>
        em.addFilter({
          ...{ name: 'here', cond: { deletedAt: null }, entity: 'User', default: false },
        } as never),
    }))
  it('em.addFilter before the first look-up', (t) =>
    compareHidden(t, 'findOne', { ...deletable, prepare: addFilter }))
  it('em.addFilter with a function before the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      options: { allowGlobalContext: true },
      prepare: ({ em }) =>
        em.addFilter({ name: 'here', cond: () => ({ deletedAt: null }), entity: 'User' } as never),
    }))
  it('em.addFilter with a function whose condition changes', (t) => {
    const tenant = { current: 'a' }
    return compareHidden(t, 'findOne', {
      ...tokensOf({}, { default: false }),
      options: { allowGlobalContext: true },
      prepare: ({ em }) =>
        em.addFilter({
          ...{ name: 'ours', entity: 'Token', default: true },
          cond: () => ({ tenant: tenant.current }),
        } as never),
      later: () => Object.assign(tenant, { current: 'b' }),
    })
  })
  it('em.addFilter after the first look-up', (t) =>
    compareHidden(t, 'findOne', { ...deletable, later: addFilter }))
  it('em.addFilter with a function after the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      options: { allowGlobalContext: true },
      later: ({ em }) =>
        em.addFilter({ name: 'here', cond: () => ({ deletedAt: null }), entity: 'User' } as never),
    }))
  it('em.setFilterParams after the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...tokensOf(({ tenant }: { tenant: string }) => ({ tenant })),
      options: { allowGlobalContext: true },
      prepare: ({ em }) => em.setFilterParams('tenant', { tenant: 'a' }),
      later: ({ em }) => em.setFilterParams('tenant', { tenant: 'b' }),
    }))
  it('row that is hidden after the first look-up', (t) =>
    compareHidden(t, 'prepared', {
      ...softly(),
      later: ({ em }) => em.fork().nativeUpdate('User' as never, {}, gone as never),
    }))
})

function addFilter({ em }: MikroORM): void {
  em.addFilter({ name: 'here', cond: { deletedAt: null }, entity: 'User' } as never)
}
