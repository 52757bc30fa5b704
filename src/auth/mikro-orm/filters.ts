import { isDeepStrictEqual } from 'node:util'
import { type EntityMetadata, type MikroORM, QueryHelper, Utils } from '@mikro-orm/core'

const noCondition = {}
const noFilters = { filters: { value: {} } }

/** The filter conditions that `em.findOne` applies to a model and to the model of its relation. */
export class Filters {
  readonly #orm: MikroORM
  readonly #metas: readonly EntityMetadata[]
  readonly #unfiltered: ReadonlyMap<unknown, EntityMetadata>
  #recorded: readonly unknown[] = []

  constructor(orm: MikroORM, metas: readonly EntityMetadata[]) {
    this.#orm = orm
    this.#metas = metas
    this.#unfiltered = new Map(metas.map((meta) => [meta.class, Object.create(meta, noFilters)]))
  }

  /** Records the current conditions. Returns whether they are the same for every request. */
  async record(): Promise<boolean> {
    if (!(await this.#areConstant())) return false
    // A copy, because an application may change a date in a condition.
    this.#recorded = Utils.copy(await this.#conditions())
    return true
  }

  /** Whether the conditions still equal the recorded ones, because an application may add a filter at any time. */
  async areUnchanged(): Promise<boolean> {
    return (await this.#areConstant()) && isDeepStrictEqual(await this.#conditions(), this.#recorded)
  }

  #conditions(em = this.#orm.em): Promise<unknown[]> {
    return Promise.all(this.#metas.map((meta) => em.applyFilters(meta.class, noCondition, {}, 'read')))
  }

  /** False if an active filter is a function, uses row-level security or was added to the global entity manager. */
  async #areConstant(): Promise<boolean> {
    const configured = this.#orm.config.get('filters') as EntityMetadata['filters']
    const active = this.#metas.flatMap((meta) =>
      [configured, meta.filters].flatMap((filters) => QueryHelper.getActiveFilters(meta, {}, filters)),
    )
    if (active.some(({ cond, rls }) => typeof cond === 'function' || rls)) return false
    // Finds active filters of `orm.em.addFilter` with a fork that has no other filters.
    const fork = this.#orm.em.fork({ disableContextResolution: true })
    Reflect.set(fork, 'metadata', { get: (model: unknown) => this.#unfiltered.get(model) })
    Reflect.set(fork, 'config', { get: () => ({}) })
    return (await this.#conditions(fork)).every((condition) => condition === noCondition)
  }
}
