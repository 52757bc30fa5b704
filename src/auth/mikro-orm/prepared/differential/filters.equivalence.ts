import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type FilterDef, type MikroORM, p, raw } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres } from './open-database.ts'
import { people, type Variation } from './people.ts'

after(dropDatabases)

/** Users with soft deletion: a filter hides deleted rows. */
const softDelete = (filter: object = {}, row: object = {}): Variation => ({
  user: { deletedAt: p.datetime().nullable() },
  userOptions: {
    filters: { active: { name: 'active', cond: { deletedAt: null }, default: true, ...filter } },
  },
  userRow: row as Variation['userRow'] & object,
})
const deleted = { deletedAt: new Date(0) }
const tokensOf = (cond: unknown, filter: object = {}): Variation => ({
  token: { tenant: p.string().nullable() },
  tokenRow: { tenant: 'a' },
  tokenOptions: { filters: { tenant: { name: 'tenant', cond, default: true, ...filter } } },
})

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))
const compareHidden = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compare(t, strategy, { ...variation, finds: 'nothing' })

describe('P1 LookUp and em.findOne agree: filters of the user', () => {
  it('hidden user', (t) => compareHidden(t, 'prepared', softDelete({}, deleted)))
  it('filter that the relation turns off', (t) =>
    compare(t, 'findOne', {
      ...softDelete({}, deleted),
      relate: (User) => p.manyToOne(User).filters(false),
    }))
  it('filter that the relation turns on', (t) =>
    compareHidden(t, 'findOne', {
      ...softDelete({ default: false }, deleted),
      relate: (User) => p.manyToOne(User).filters({ active: true }),
    }))
  it('nullable relation to a hidden user', (t) =>
    compare(t, 'prepared', {
      ...softDelete({}, deleted),
      relate: (User) => p.manyToOne(User).nullable(),
    }))
  it('nullable relation without a user', (t) =>
    compare(t, 'prepared', {
      ...softDelete(),
      relate: (User) => p.manyToOne(User).nullable(),
      tokenRow: { user: null },
    }))
  it('hidden user, without filters of relations', (t) =>
    compare(t, 'findOne', { ...softDelete({}, deleted), options: { filtersOnRelations: false } }))
  it('function', (t) =>
    compareHidden(t, 'findOne', softDelete({ cond: () => ({ deletedAt: null }) }, deleted)))
  it('relation that is not loaded', (t) =>
    compareHidden(t, 'findOne', { ...softDelete({}, deleted), lookUpOptions: { relation: undefined } }))
  it('condition with a `Date` that the application changes after the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...softDelete({ cond: { deletedAt: { $gt: new Date(0) } } }, { deletedAt: new Date(1000) }),
      later: (orm) => changeDate(orm),
    }))
  it('fragments of SQL', (t) =>
    compare(
      t,
      'findOne',
      softDelete({ cond: { [raw((alias) => `lower(${alias}.name)`)]: 'ada', id: { $lt: raw('1 + 1') } } }),
    ))
  it('filters on relations, turned off after the first look-up', (t) =>
    compare(t, 'findOne', {
      ...softDelete({}, deleted),
      later: ({ config }) => config.set('filtersOnRelations', false),
    }))
  it('filter that is turned on after the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...softDelete({ default: false }, deleted),
      later: (orm) => Object.assign(activeOf(orm), { default: true }),
    }))
  it('strict filter', (t) => compareHidden(t, 'prepared', softDelete({ strict: true }, deleted)))
})

describe('P1 LookUp and em.findOne agree: filters of the token', () => {
  it('equal value', (t) => compare(t, 'prepared', tokensOf({ tenant: 'a' })))
  it('other value', (t) => compareHidden(t, 'prepared', tokensOf({ tenant: 'b' })))
  it('operators', (t) => compare(t, 'findOne', tokensOf({ tenant: { $in: ['a', 'b'], $ne: null } })))
  it('condition on the user', (t) => compare(t, 'findOne', tokensOf({ user: { name: 'Ada' } })))
  it('function', (t) =>
    compare(
      t,
      'findOne',
      tokensOf(() => ({ tenant: 'a' })),
    ))
  it('constant with row-level security', onlyPostgres, (t) =>
    compare(t, 'findOne', tokensOf({ tenant: 'a' }, { rls: true, args: false })),
  )
})

const inConfig = (cond: unknown, more: object = {}) => ({
  filters: { active: { cond, default: true, ...more } } as never,
})
const deletable: Variation = { user: { deletedAt: p.datetime().nullable() }, userRow: deleted }

describe('P1 LookUp and em.findOne agree: filters of the application', () => {
  it('configuration, of one entity', (t) =>
    compareHidden(t, 'prepared', {
      ...deletable,
      options: inConfig({ deletedAt: null }, { entity: 'User' }),
    }))
  it('configuration, function', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      options: inConfig(() => ({ deletedAt: null }), { entity: 'User' }),
    }))
  it('em.addFilter after the first look-up, for a filter that the relation turns on', (t) =>
    compareHidden(t, 'findOne', {
      ...deletable,
      relate: (User) => p.manyToOne(User).filters({ active: true }),
      later: ({ em }) =>
        em.addFilter({
          ...{ name: 'active', cond: { deletedAt: null }, entity: 'User', default: false },
        } as never),
    }))
  it('em.addFilter before the first look-up', (t) =>
    compareHidden(t, 'findOne', { ...deletable, prepare: addFilter }))
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
  it('em.setFilterParams after the first look-up', (t) =>
    compareHidden(t, 'findOne', {
      ...tokensOf(({ tenant }: { tenant: string }) => ({ tenant })),
      options: { allowGlobalContext: true },
      prepare: ({ em }) => em.setFilterParams('tenant', { tenant: 'a' }),
      later: ({ em }) => em.setFilterParams('tenant', { tenant: 'b' }),
    }))
  it('row that is hidden after the first look-up', (t) =>
    compareHidden(t, 'prepared', {
      ...softDelete(),
      later: ({ em }) => em.fork().nativeUpdate('User' as never, {}, deleted as never),
    }))
})

function addFilter({ em }: MikroORM): void {
  em.addFilter({ name: 'active', cond: { deletedAt: null }, entity: 'User' } as never)
}

/** The filter of the users. */
function activeOf({ em }: MikroORM): FilterDef {
  const metas = [...em.getMetadata().getAll().values()]
  return metas.find(({ className }) => className === 'User')?.filters.active ?? assert.fail()
}

function changeDate(orm: MikroORM): void {
  const { cond } = activeOf(orm) as unknown as { cond: { deletedAt: { $gt: Date } } }
  cond.deletedAt.$gt.setTime(5000)
}
