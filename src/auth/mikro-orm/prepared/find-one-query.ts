import type { EntityMetadata, EntityProperty, Hydrator, helper, MikroORM } from '@mikro-orm/core'
import type { LookUpOptions } from '../look-ups.ts'
import { hasHooks, requirePlainModel, requirePlainORM, sampleKey } from './allow-list.ts'
import { watchFilters } from './filters.ts'
import { LoadedWrapper } from './loaded-wrapper.ts'
import { NotPrepared } from './not-prepared.ts'
import type { Connection, Row } from './prepared-statement.ts'
import { driverOf, type PopulateHint, type QueryBuilder, recordFindOne, sqlOf } from './query-builder.ts'

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
  const map = rowMapper(orm, qb, meta, relation)
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
      const data = map(row)
      const entity = hydrateOwn(data, qb.state.populate, { create })
      return related ? [entity, related] : [entity]
    },
  }
}

/**
 * Maps a row to the data of the entity and its relation. MikroORM's own mapper of joined rows, in `mapResult` of the driver, takes
 * three times as long.
 */
function rowMapper(orm: MikroORM, qb: QueryBuilder, meta: EntityMetadata, relation?: EntityProperty) {
  const driver = driverOf(orm)
  const target = relation?.targetMeta
  if (!target) return (row: Row) => driver.mapResult(row, meta)
  const path = `[populate]${meta.name}.${relation.name}`
  const alias = `${qb.getAliasForJoinPath(path, { matchPopulateJoins: true })}__`
  const joined = new Map(
    target.props.flatMap(({ fieldNames = [] }) => fieldNames).map((name) => [alias + name, name]),
  )
  if (meta.props.some(({ name, fieldNames = [] }) => [name, ...fieldNames].some((each) => joined.has(each))))
    throw new NotPrepared(`a column of ${meta.className} is named like a column of the joined table`)
  const [key = ''] = target.getPrimaryProp().fieldNames
  return (row: Row) => {
    const own: Record<string, unknown> = {}
    const related: Record<string, unknown> = {}
    for (const column in row) {
      const name = joined.get(column)
      if (name === undefined) own[column] = row[column]
      else related[name] = row[column]
    }
    const data = driver.mapResult(own, meta)
    data[relation.name] = related[key] == null ? null : driver.mapResult(related, target)
    return data
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
