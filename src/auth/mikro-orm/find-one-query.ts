import type { EntityMetadata, EntityProperty, Hydrator, helper, MikroORM } from '@mikro-orm/core'
import { hasHooks, isModelAllowed, isORMAllowed, sampleKey, watchOptions } from './allow-list.ts'
import { LoadedWrapper } from './databases.ts'
import { watchFilters } from './filters.ts'
import type { Connection, Row } from './prepared-statement.ts'
import { driverOf, type LookUpOptions, type PopulateHint, recordFindOne, sqlOf } from './query-builder.ts'
import { rowMapper } from './row-mapper.ts'

/** The query of `em.findOne`, built once by MikroORM, for models and configurations that `allow-list.ts` accepts. */
export interface FindOneQuery {
  readonly keyType: 'string' | 'number'
  /** The connection that MikroORM would use for a read now: the primary or a replica. */
  connection(): Connection
  /** MikroORM's SQL with a placeholder for the key. */
  sql(placeholder: string): string
  /** Whether models, options, schemas and filters are unchanged since the recording, and there are no hooks. */
  isCurrent(): Promise<boolean>
  /** Creates the entity of a row and its related entity. No entity manager manages them yet. */
  hydrate(row: Row): object[]
}

/** Records the query. Returns `undefined` if a replay may differ from `em.findOne`. */
export async function recordQuery(orm: MikroORM, options: LookUpOptions): Promise<FindOneQuery | undefined> {
  // MikroORM reads the schema from the `clientUrl` when it connects.
  await orm.em.getConnection('read').ensureConnection()
  const models = orm.getMetadata()
  const meta = models.get<object>(options.model)
  const properties: Readonly<Record<string, EntityProperty>> = meta.properties
  const key = sampleKey(properties[options.property])
  const relation = options.relation === undefined ? undefined : properties[options.relation]
  if (key === undefined || !isORMAllowed(orm) || !isModelAllowed(meta, relation)) return undefined
  const metas = relation?.targetMeta ? [meta, relation.targetMeta] : [meta]
  const areOptionsUnchanged = watchOptions(orm)
  const areFiltersUnchanged = await watchFilters(orm, metas)
  if (!areFiltersUnchanged) return undefined
  const qb = await recordFindOne(orm, options, key)
  const map = qb && rowMapper(orm, qb, meta, relation)
  if (!map) return undefined
  const schemaOf = (each: EntityMetadata) => driverOf(orm).getSchemaName(each)
  const schemas = metas.map(schemaOf)
  const discovered = metas.map((each) => models.find(each.class))
  const hydrateOwn = entityHydrator(orm, meta, schemas[0])
  const hydrateRelated = entityHydrator(orm, metas[1] ?? meta, schemas[1])
  return {
    keyType: typeof key as 'string' | 'number',
    connection: () => qb.getConnection(),
    sql: (placeholder) => sqlOf(orm, qb, key, placeholder),
    async isCurrent() {
      const isSame = (each: EntityMetadata, i: number) =>
        models.find(each.class) === discovered[i] && schemaOf(each) === schemas[i] && !hasHooks(orm, each)
      return areOptionsUnchanged() && metas.every(isSame) && areFiltersUnchanged()
    },
    hydrate(row) {
      let related: object | undefined
      // The hydrator calls its factory for the entity of the joined relation.
      const create = (_model: unknown, joined: object) => {
        related = hydrateRelated({ ...joined }, [], {})
        return related
      }
      const entity = hydrateOwn(map(row), qb.state.populate, { create })
      return related ? [entity, related] : [entity]
    },
  }
}

function entityHydrator(orm: MikroORM, meta: EntityMetadata, schema: string | undefined) {
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
