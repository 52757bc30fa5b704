import type { EntityMetadata, EntityProperty, Hydrator, helper, MikroORM } from '@mikro-orm/core'
import type { LookUpOptions } from '../look-ups.ts'
import { hasHooks, requirePlainModel, requirePlainORM, sampleKey } from './allow-list.ts'
import { watchFilters } from './filters.ts'
import { LoadedWrapper } from './loaded-wrapper.ts'
import { NotPrepared } from './not-prepared.ts'
import type { Connection, Row } from './prepared-statement.ts'
import { driverOf, type PopulateHint, recordFindOne, sqlOf } from './query-builder.ts'

/**
 * Records the query of `em.findOne`, built once by MikroORM, for models and configurations that `allow-list.ts` accepts. Throws
 * `NotPrepared` if a replay may differ from `em.findOne`.
 */
export async function recordQuery(orm: MikroORM, options: LookUpOptions) {
  const meta = orm.getMetadata().get<object>(options.model)
  const properties: Readonly<Record<string, EntityProperty>> = meta.properties
  const key = sampleKey(meta, properties[options.property])
  const relation = options.relation === undefined ? undefined : properties[options.relation]
  requirePlainORM(orm)
  requirePlainModel(meta, relation)
  const metas = relation?.targetMeta ? [meta, relation.targetMeta] : [meta]
  const areFiltersUnchanged = await watchFilters(orm, metas)
  const qb = await recordFindOne(orm, options, key.key)
  const driver = driverOf(orm)
  const hydrateOwn = entityHydrator(orm, meta)
  const hydrateRelated = entityHydrator(orm, metas[1] ?? meta)
  return {
    key,
    connection: orm.driver.getConnection('write') as Connection,
    /** MikroORM's SQL with `keyColumn` instead of the key. */
    sql: sqlOf(orm, qb, key.key),
    /** Throws `NotPrepared` if filters have changed since the recording, or if there is a hook. */
    async requireUnchanged() {
      if (metas.some((each) => hasHooks(orm, each))) throw new NotPrepared('a hook is called for each entity')
      if (!(await areFiltersUnchanged())) throw new NotPrepared('a filter has changed')
    },
    /** Creates the entity of a row and its related entity. No entity manager manages them yet. */
    hydrate(row: Row): object[] {
      let related: object | undefined
      // The hydrator calls its factory for the entity of the joined relation.
      const create = (_model: unknown, joined: object) => {
        related = hydrateRelated({ ...joined }, [], {})
        return related
      }
      const data = driver.mapResult({ ...row }, meta, qb.state.populate, qb)
      const entity = hydrateOwn(data, qb.state.populate, { create })
      return related ? [entity, related] : [entity]
    },
  }
}

function entityHydrator(orm: MikroORM, meta: EntityMetadata) {
  const schema = driverOf(orm).getSchemaName(meta)
  const hydrator = orm.em.getHydrator() as Hydrator
  const keys = orm.em.getComparator()
  const parts = [keys.getPkGetter(meta), keys.getPkSerializer(meta), keys.getPkGetterConverted(meta)]
  return (data: object, populate: readonly PopulateHint[], factory: object): object => {
    const entity = {}
    hydrator.hydrate(entity, meta, data, factory as never, 'full', false, true)
    // The prototype is set after the properties, because assigning through its accessors would take three times as long.
    Object.setPrototypeOf(entity, meta.prototype)
    // The first access to `__helper` would otherwise create MikroORM's own wrapper.
    const wrapped = new LoadedWrapper(entity, hydrator, ...parts) as never as ReturnType<typeof helper>
    Object.defineProperty(entity, '__helper', { value: wrapped, configurable: true })
    if (schema !== undefined) wrapped.__schema = schema
    // MikroORM's `EntityFactory` sets this too. Without it, the serializer would expand the relation.
    wrapped.__managed = true
    wrapped.setSerializationContext({ populate: populate as never })
    // Without a snapshot of the row, an entity manager would insert the entity.
    if (populate.length > 0) orm.em.getUnitOfWork(false).normalizeEntityData(meta, data)
    wrapped.__originalEntityData = data
    wrapped.__loadedProperties = new Set(Object.keys(data))
    return entity
  }
}
