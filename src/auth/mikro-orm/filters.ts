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
  readonly #unfiltered: ReadonlyMap<unknown, EntityMetadata>
  #recorded: readonly unknown[] = []

  constructor(orm: MikroORM, meta: EntityMetadata, relation: EntityProperty | undefined) {
    this.#orm = orm
    const target = relation?.targetMeta
    const options = QueryHelper.mergePropertyFilters(relation?.filters, {}) as FilterOptions
    this.#models = [{ meta, options: {} }, ...(target ? [{ meta: target, options }] : [])]
    this.#unfiltered = new Map(
      this.#models.map((model) => [model.meta.class, Object.create(model.meta, { filters: { value: {} } })]),
    )
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

  #conditions(em = this.#orm.em): Promise<unknown[]> {
    const conditions = this.#models.map(({ meta, options }) =>
      em.applyFilters(meta.class, noCondition, options, 'read'),
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
    // Finds active filters of `orm.em.addFilter` with a fork that has no other filters.
    const fork = this.#orm.em.fork({ disableContextResolution: true })
    Reflect.set(fork, 'metadata', { get: (model: unknown) => this.#unfiltered.get(model) })
    Reflect.set(fork, 'config', { get: () => ({}) })
    return (await this.#conditions(fork)).every((condition) => condition === noCondition)
  }
}
