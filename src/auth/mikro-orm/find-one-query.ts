import {
  type EntityMetadata,
  type EntityProperty,
  type Hydrator,
  helper,
  type MikroORM,
} from '@mikro-orm/core'
import {
  hasHooks,
  isConfigurationAllowed,
  isDriverAllowed,
  isModelAllowed,
  isRelationAllowed,
  sampleKey,
} from './allow-list.ts'
import { Filters } from './filters.ts'
import type { Connection, Key, Row } from './prepared-statement.ts'
import {
  driverOf,
  type LookUpOptions,
  type PopulateHint,
  type QueryBuilder,
  recordFindOne,
  sqlOf,
} from './query-builder.ts'

interface Target {
  readonly meta: EntityMetadata
  readonly schema: string | undefined
}

/** The query of `em.findOne`, built once by MikroORM, for models and configurations that `allow-list.ts` accepts. */
export class FindOneQuery {
  readonly keyType: 'string' | 'number'
  readonly #orm: MikroORM
  readonly #qb: QueryBuilder
  readonly #key: Key
  readonly #filters: Filters
  readonly #targets: readonly [Target, Target?]
  readonly #hydrator: Hydrator

  private constructor(orm: MikroORM, qb: QueryBuilder, key: Key, filters: Filters, targets: Target[]) {
    this.keyType = typeof key as 'string' | 'number'
    this.#orm = orm
    this.#qb = qb
    this.#key = key
    this.#filters = filters
    this.#targets = targets as [Target, Target?]
    this.#hydrator = orm.em.getHydrator() as Hydrator
  }

  /** Records the query. Returns `undefined` if a replay may differ from `em.findOne`. */
  static async record(orm: MikroORM, options: LookUpOptions): Promise<FindOneQuery | undefined> {
    // MikroORM reads the schema from the `clientUrl` when it connects.
    await orm.em.getConnection('read').ensureConnection()
    const meta = orm.getMetadata().get<object>(options.model)
    const properties: Readonly<Record<string, EntityProperty>> = meta.properties
    const key = sampleKey(properties[options.property])
    const relation = options.relation === undefined ? undefined : properties[options.relation]
    if (key === undefined || !isConfigurationAllowed(orm) || !isDriverAllowed(orm)) return undefined
    if (!isModelAllowed(meta, relation)) return undefined
    if (options.relation !== undefined && !(relation && isRelationAllowed(relation))) return undefined
    const filters = new Filters(orm, meta, relation)
    if (!(await filters.record())) return undefined
    const qb = await recordFindOne(orm, options, key)
    if (!qb) return undefined
    const metas = relation?.targetMeta ? [meta, relation.targetMeta] : [meta]
    const targets = metas.map((each) => ({ meta: each, schema: driverOf(orm).getSchemaName(each) }))
    return new FindOneQuery(orm, qb, key, filters, targets)
  }

  /** Whether options, schemas, hooks and filters are unchanged since the recording. */
  async isCurrent(): Promise<boolean> {
    if (!isConfigurationAllowed(this.#orm)) return false
    for (const target of this.#targets) if (target && !this.#isUnchanged(target)) return false
    return this.#filters.areUnchanged()
  }

  #isUnchanged({ meta, schema }: Target): boolean {
    return driverOf(this.#orm).getSchemaName(meta) === schema && !hasHooks(this.#orm, meta)
  }

  /** The connection that MikroORM would use for a read now: the primary or a replica. */
  get connection(): Connection {
    return this.#qb.getConnection()
  }

  /** MikroORM's SQL with a placeholder for the key. */
  sql(placeholder: string): string {
    return sqlOf(this.#orm, this.#qb, this.#key, placeholder)
  }

  /** The entity of a row and its related entity. No entity manager manages them yet. */
  hydrate(row: Row): object[] {
    const [target, relatedTarget] = this.#targets
    const { populate } = this.#qb.state
    const data = driverOf(this.#orm).mapResult(row, target.meta, populate, this.#qb, {})
    let related: object | undefined
    // The hydrator calls its factory for the entity of the joined relation.
    const create = (_model: unknown, joined: object) => {
      related = relatedTarget && this.#hydrate(relatedTarget, { ...joined }, [], {})
      return related
    }
    const entity = this.#hydrate(target, data, populate, { create })
    return related ? [entity, related] : [entity]
  }

  #hydrate(
    { meta, schema }: Target,
    data: object,
    populate: readonly PopulateHint[],
    factory: object,
  ): object {
    const entity = {}
    this.#hydrator.hydrate(entity, meta, data, factory as never, 'full', false, true)
    // The prototype comes last: assigning through its accessors would take three times as long.
    Object.setPrototypeOf(entity, meta.prototype)
    const wrapped = helper(entity)
    if (schema !== undefined) wrapped.__schema = schema
    // As in MikroORM's `EntityFactory`. The serializer would expand the relation otherwise.
    wrapped.__managed = true
    wrapped.setSerializationContext({ populate: populate as never })
    // Without a snapshot of the row, an entity manager would insert the entity.
    this.#orm.em.getUnitOfWork(false).normalizeEntityData(meta, data)
    wrapped.__originalEntityData = data
    for (const name of Object.keys(data)) wrapped.__loadedProperties.add(name)
    return entity
  }
}
