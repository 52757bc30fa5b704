import { isDeepStrictEqual } from 'node:util'
import {
  type EntityMetadata,
  type EntityProperty,
  type MikroORM,
  QueryHelper,
  ReferenceKind,
  Utils,
} from '@mikro-orm/core'
import { NotPrepared } from './not-prepared.ts'

const noCondition = {}

/**
 * Records the filters that `em.findOne` applies to the models. Throws `NotPrepared` if a prepared statement cannot apply them.
 * Returns a function that tells whether the filters are still the same.
 */
export async function watchFilters(
  orm: MikroORM,
  metas: readonly EntityMetadata[],
): Promise<() => Promise<boolean>> {
  const filtersOf = ({ filters }: EntityMetadata) => ({
    ...filters,
    ...(orm.config.get('filters') as object),
  })
  const activeOf = (meta: EntityMetadata) => QueryHelper.getActiveFilters(meta, {}, filtersOf(meta))
  const conditions = () => metas.map((meta) => activeOf(meta).map(({ cond }) => cond))
  /** Whether a filter of `orm.em.addFilter` is active if all other filters are turned off. */
  const isAnyAdded = async () => {
    const fork = orm.em.fork({ disableContextResolution: true })
    const added = metas.map((meta) => {
      const off = Object.fromEntries(Object.keys(filtersOf(meta)).map((name) => [name, false]))
      return fork.applyFilters(meta.class, noCondition, off, 'read')
    })
    return (await Promise.all(added)).some((condition) => condition !== noCondition)
  }
  for (const meta of metas) {
    const [filter, ...others] = activeOf(meta)
    // MikroORM 7.2 writes wrong SQL for a joined model with several filters.
    if (others.length > 0 || (filter && (filter.rls || !isPlain(filter.cond, meta))))
      throw new NotPrepared(`${meta.className} has a filter that does more than compare columns`)
  }
  // A copy, because an application may change a date in a condition.
  const recorded = Utils.copy(conditions())
  const areUnchanged = async () => isDeepStrictEqual(conditions(), recorded) && !(await isAnyAdded())
  if (!(await areUnchanged())) throw new NotPrepared('`orm.em.addFilter` has added a filter')
  return areUnchanged
}

/**
 * Whether a condition only compares columns with constants. Other conditions may use functions or getters. For the filter of a
 * joined model, MikroORM 7.2 writes wrong SQL from raw SQL, `$not`, several `$or` and JSON properties.
 */
function isPlain(condition: unknown, { properties }: EntityMetadata): boolean {
  if (!Utils.isPlainObject(condition)) return false
  return Reflect.ownKeys(condition).every((name) => {
    const property = (properties as Readonly<Record<PropertyKey, EntityProperty>>)[name]
    const value: unknown = Object.getOwnPropertyDescriptor(condition, name)?.value
    const isConstant = value === null || value instanceof Date || /string|number|boolean/.test(typeof value)
    return property?.kind === ReferenceKind.SCALAR && !property.customType && isConstant
  })
}
