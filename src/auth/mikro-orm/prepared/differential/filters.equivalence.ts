import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type FilterDef, type MikroORM, p, raw } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compare } from './compare-with-find-one.ts'
import { dropDatabases, onlyPostgres } from './open-database.ts'
import type { Variation } from './people.ts'

after(dropDatabases)

const deleted = { deletedAt: new Date(0) }
const isNotDeleted = { deletedAt: null }

/** A deleted user, and a filter that hides deleted users. */
const softDelete = (filter: object = {}): Variation => ({
  user: { deletedAt: p.datetime().nullable() },
  userOptions: { filters: { active: { name: 'active', cond: isNotDeleted, default: true, ...filter } } },
  userRow: deleted,
})
/** A token of the tenant `a`, and a filter of the tokens. */
const tokensOf = (cond: unknown, filter: object = {}): Variation => ({
  token: { tenant: p.string().nullable() },
  tokenRow: { tenant: 'a' },
  tokenOptions: { filters: { tenant: { name: 'tenant', cond, default: true, ...filter } } },
})

const compareHidden = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compare(t, strategy, { ...variation, finds: 'nothing' })

describe('P1 prepared look-ups and em.findOne agree: filters', () => {
  it('of the user', async (t) => {
    await compareHidden(t, 'prepared', softDelete())
    await compareHidden(t, 'prepared', softDelete({ strict: true }))
    await compare(t, 'prepared', { ...softDelete(), relate: (User) => p.manyToOne(User).nullable() })
  })
  it('of the token', async (t) => {
    await compare(t, 'prepared', tokensOf({ tenant: 'a' }))
    await compareHidden(t, 'prepared', tokensOf({ tenant: 'b' }))
  })
  it('of the configuration', (t) =>
    compareHidden(t, 'prepared', {
      ...{ user: { deletedAt: p.datetime().nullable() }, userRow: deleted },
      options: { filters: { active: { cond: isNotDeleted, default: true, entity: 'User' } } as never },
    }))
  it('row that is hidden after the first look-up', (t) =>
    compareHidden(t, 'prepared', {
      ...{ ...softDelete(), userRow: {} },
      later: ({ em }) => em.fork().nativeUpdate('User' as never, {}, deleted as never),
    }))

  it('uses em.findOne for conditions that are not constants', async (t) => {
    await compareHidden(t, 'findOne', softDelete({ cond: () => isNotDeleted }))
    const sql = { [raw((alias) => `lower(${alias}.name)`)]: 'ada', id: { $lt: raw('1 + 1') } }
    await compare(t, 'findOne', softDelete({ cond: sql }))
    await compare(t, 'findOne', tokensOf({ tenant: { $in: ['a', 'b'], $ne: null } }))
    await compare(t, 'findOne', tokensOf({ user: { name: 'Ada' } }))
    await compareHidden(t, 'findOne', {
      ...tokensOf(({ tenant }: { tenant: string }) => ({ tenant })),
      options: { allowGlobalContext: true },
      prepare: ({ em }) => em.setFilterParams('tenant', { tenant: 'a' }),
      later: ({ em }) => em.setFilterParams('tenant', { tenant: 'b' }),
    })
  })
  it('uses em.findOne for filters of the relation', async (t) => {
    await compare(t, 'findOne', { ...softDelete(), relate: (User) => p.manyToOne(User).filters(false) })
    await compareHidden(t, 'findOne', {
      ...softDelete({ default: false }),
      relate: (User) => p.manyToOne(User).filters({ active: true }),
    })
    await compare(t, 'findOne', { ...softDelete(), options: { filtersOnRelations: false } })
  })
  it('uses em.findOne for `em.addFilter`, also after the first look-up', async (t) => {
    const deletable = { user: { deletedAt: p.datetime().nullable() }, userRow: deleted }
    await compareHidden(t, 'findOne', { ...deletable, prepare: addFilter })
    await compareHidden(t, 'findOne', { ...deletable, later: addFilter })
  })
  it('uses em.findOne after a filter has changed', async (t) => {
    const turnOn = (orm: MikroORM) => Object.assign(activeOf(orm), { default: true })
    await compareHidden(t, 'findOne', { ...softDelete({ default: false }), later: turnOn })
    const changeDate = (orm: MikroORM) => {
      const { cond } = activeOf(orm) as unknown as { cond: { deletedAt: Date } }
      cond.deletedAt.setTime(5000)
    }
    await compareHidden(t, 'findOne', {
      ...softDelete({ cond: { deletedAt: new Date(0) } }),
      later: changeDate,
    })
  })
  it('uses em.findOne for row-level security', onlyPostgres, (t) =>
    compare(t, 'findOne', tokensOf({ tenant: 'a' }, { rls: true, args: false })),
  )
})

function addFilter({ em }: MikroORM): void {
  em.addFilter({ name: 'active', cond: isNotDeleted, entity: 'User' } as never)
}

/** The filter of the users. */
function activeOf({ em }: MikroORM): FilterDef {
  const metas = [...em.getMetadata().getAll().values()]
  return metas.find(({ className }) => className === 'User')?.filters.active ?? assert.fail()
}
