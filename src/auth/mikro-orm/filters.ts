import { isDeepStrictEqual } from 'node:util'
import { type EntityMetadata, type EntityProperty, type MikroORM, QueryHelper } from '@mikro-orm/core'

type FilterOptions = Parameters<MikroORM['em']['applyFilters']>[2]

interface FilteredModel {
  readonly meta: EntityMetadata
  /** The filters that the relation switches on and off. */
  readonly options: FilterOptions
}

const everything = {}
// The options of a request are unknown here, so only `em.findOne` can call a filter that reads them.
const unknown = new Proxy(
  {},
  {
    get() {
      throw new Error('A filter reads the options of the query.')
    },
  },
)

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

  /** Notes the current conditions. Returns whether they are constant: no functions, no row-level security. */
  async record(): Promise<boolean> {
    const configured = this.#orm.config.get('filters') as EntityMetadata['filters']
    const active = this.#models.flatMap(({ meta, options }) =>
      [configured, meta.filters].flatMap((filters) =>
        QueryHelper.getActiveFilters(meta, options as never, filters),
      ),
    )
    if (active.some(({ cond, rls }) => typeof cond === 'function' || rls)) return false
    this.#recorded = await Promise.all(this.#models.map((model) => this.#conditions(model)))
    return true
  }

  /** Whether the conditions are those that were recorded: `orm.em.addFilter` may have added one. */
  async areUnchanged(): Promise<boolean> {
    for (const [i, model] of this.#models.entries())
      if (!isDeepStrictEqual(await this.#conditions(model), this.#recorded[i])) return false
    return true
  }

  #conditions({ meta, options }: FilteredModel): Promise<unknown> {
    return this.#orm.em.applyFilters(meta.class, everything, options, 'read', unknown)
  }
}
