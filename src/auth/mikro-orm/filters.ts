import { isDeepStrictEqual } from 'node:util'
import { type EntityMetadata, type EntityProperty, type MikroORM, QueryHelper } from '@mikro-orm/core'

type FilterOptions = Parameters<MikroORM['em']['applyFilters']>[2]

interface FilteredModel {
  readonly meta: EntityMetadata
  /** The filters that the relation enables or disables. */
  readonly options: FilterOptions
}

const noCondition = {}

/** The filter conditions that `em.findOne` applies to a model and to its relation. */
export class Filters {
  readonly #orm: MikroORM
  readonly #models: readonly FilteredModel[]
  #recorded: readonly unknown[] = []

  constructor(orm: MikroORM, meta: EntityMetadata, relation: EntityProperty | undefined) {
    this.#orm = orm
    this.#models = [{ meta, options: {} }]
    if (!relation?.targetMeta) return
    const options = QueryHelper.mergePropertyFilters(relation.filters, {}) as FilterOptions
    this.#models = [...this.#models, { meta: relation.targetMeta, options }]
  }

  /** Records the current conditions. Returns whether they are the same for every request. */
  async record(): Promise<boolean> {
    if (!(await this.#areConstant())) return false
    this.#recorded = await this.#conditions()
    return true
  }

  /** Whether the conditions still equal the recorded ones, because an application may add a filter at any time. */
  async areUnchanged(): Promise<boolean> {
    return (await this.#areConstant()) && isDeepStrictEqual(await this.#conditions(), this.#recorded)
  }

  #conditions(): Promise<unknown[]> {
    const conditions = this.#models.map(({ meta, options }) =>
      this.#orm.em.applyFilters(meta.class, noCondition, options, 'read'),
    )
    return Promise.all(conditions)
  }

  /** False if an active filter is a function, uses row-level security or was added to the global entity manager. */
  async #areConstant(): Promise<boolean> {
    const configured = this.#orm.config.get('filters') as EntityMetadata['filters']
    const active = this.#models.flatMap(({ meta, options }) =>
      [configured, meta.filters].flatMap((filters) =>
        QueryHelper.getActiveFilters(meta, options as never, filters),
      ),
    )
    if (active.some(({ cond, rls }) => typeof cond === 'function' || rls)) return false
    const added = this.#models.map((model) => hasAddedFilters(this.#orm, model))
    return !(await Promise.all(added)).includes(true)
  }
}

/** Whether `orm.em.addFilter` has added an active filter. Checks it with a fork that has no other filters. */
async function hasAddedFilters({ em }: MikroORM, { meta, options }: FilteredModel): Promise<boolean> {
  const fork = em.fork({ disableContextResolution: true })
  const unfiltered = Object.create(meta, { filters: { value: {} } })
  Reflect.set(fork, 'metadata', { get: () => unfiltered })
  Reflect.set(fork, 'config', { get: () => ({}) })
  return (await fork.applyFilters(meta.class, noCondition, options, 'read')) !== noCondition
}
