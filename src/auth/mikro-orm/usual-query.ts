import { isDeepStrictEqual } from 'node:util'
import {
  BigIntType,
  Configuration,
  type EntityManager,
  type EntityMetadata,
  type EntityProperty,
  EventType,
  type Hydrator,
  helper,
  type MikroORM,
  QueryHelper,
  ReferenceKind,
  raw,
  UuidType,
} from '@mikro-orm/core'
import type { Class } from '../class.ts'
import type { Connection, Key, Row } from './drivers.ts'
import type { Sought } from './look-up.ts'

/** The properties of MikroORM's driver and query builder that have to do with one query; `AbstractSqlDriver` and its builder. */
interface Driver {
  createQueryBuilder(...args: unknown[]): QueryBuilder
  joinedProps(meta: EntityMetadata, populate: readonly Hint[]): readonly Hint[]
  mapResult(
    row: object,
    meta: EntityMetadata,
    populate: readonly Hint[],
    qb: QueryBuilder,
    map: object,
  ): object
  getSchemaName(meta: EntityMetadata): string | undefined
}

interface QueryBuilder {
  readonly state: { readonly populate: readonly Hint[] }
  execute(...args: unknown[]): Promise<object[]>
  toQuery(): { sql: string; params: readonly unknown[] }
  getConnection(): Connection
}

interface Hint {
  readonly field: string
  readonly children?: readonly Hint[]
}

/** An entity that MikroORM has hydrated, and the snapshot that it compares it with. */
export type Hydrated = readonly [entity: object, snapshot: object]

/**
 * The query that `em.findOne(model, { [property]: value }, { populate: [relation] })` sends, as MikroORM has built it once,
 * and the entities that it makes of the answer. There is none of what cannot be told to be the same every time.
 */
export class UsualQuery {
  /** The type of what is looked up. */
  readonly type: 'string' | 'number'
  readonly #orm: MikroORM
  readonly #meta: EntityMetadata
  readonly #qb: QueryBuilder
  readonly #key: Key
  readonly #filters: Filters
  readonly #hydrator: Hydrator
  readonly #metas: readonly EntityMetadata[]

  private constructor(orm: MikroORM, meta: EntityMetadata, qb: QueryBuilder, key: Key, filters: Filters) {
    this.type = typeof key as 'string' | 'number'
    this.#orm = orm
    this.#meta = meta
    this.#qb = qb
    this.#key = key
    this.#filters = filters
    this.#hydrator = orm.config.getHydrator(orm.getMetadata()) as Hydrator
    this.#metas = filters.metas
  }

  static async of(orm: MikroORM, { model, property, relation }: Sought): Promise<UsualQuery | undefined> {
    const meta = orm.getMetadata().get<object>(model) as EntityMetadata
    const key = sampleOf(meta.properties[property])
    const owner = relation === undefined ? undefined : meta.properties[relation]
    const isPlain =
      isConfigured(orm) &&
      isTable(orm, meta) &&
      meta.props.every((each) => each === owner || isColumn(meta, each))
    if (!isPlain || key === undefined) return undefined
    if (relation !== undefined && !(owner && isOwner(orm, owner))) return undefined
    const filters = new Filters(orm, meta, owner)
    if (!(await filters.areConstant())) return undefined
    const [qb, ...others] = await record(orm, { model, property, relation }, key)
    if (!qb || others.length > 0) return undefined
    // Of the owner nothing else is loaded, and it is by a join.
    const fields = driverOf(orm)
      .joinedProps(meta, qb.state.populate)
      .map(({ field }) => field)
    const isOne = qb.state.populate.every(({ children = [] }) => children.length === 0)
    if (!isOne || !isDeepStrictEqual(fields, relation === undefined ? [] : [relation])) return undefined
    if (qb.toQuery().params.filter((each) => each === key).length !== 1) return undefined
    return new UsualQuery(orm, meta, qb, key, filters)
  }

  /** Whether hooks and filters are what they were when the query was built: an application may add some. */
  async isRight(): Promise<boolean> {
    return !this.#metas.some((each) => hasHooks(this.#orm, each)) && this.#filters.areTheSame()
  }

  /** The connection that MikroORM would ask. */
  get connection(): Connection {
    return this.#qb.getConnection()
  }

  /** As MikroORM sends it, but for the value that is looked up. */
  sql(placeholder: string): string {
    const { sql, params } = this.#qb.toQuery()
    return this.#orm.em.getPlatform().formatQuery(
      sql,
      params.map((each) => (each === this.#key ? raw(placeholder) : each)),
    )
  }

  /** The entities of a row, last the one that was looked up. No entity manager knows them yet. */
  hydrate(row: Row): Hydrated[] {
    const driver = driverOf(this.#orm)
    const { populate } = this.#qb.state
    const data = driver.mapResult(row, this.#meta, populate, this.#qb, {})
    const all: Hydrated[] = []
    this.#hydrate(this.#meta, data, populate, all)
    return all
  }

  #hydrate(meta: EntityMetadata, data: object, populate: readonly Hint[], all: Hydrated[]): object {
    const entity = {}
    // What a query has joined MikroORM's hydrator leaves to the factory.
    const factory = {
      create: (model: Class, data: object) =>
        this.#hydrate(this.#orm.getMetadata().get<object>(model) as EntityMetadata, data, [], all),
    }
    this.#hydrator.hydrate(entity, meta, data, factory as never, 'full', false, true)
    // Hydrated before, it need not pass through the setters that MikroORM puts on the prototype.
    Object.setPrototypeOf(entity, meta.prototype)
    const wrapped = helper(entity)
    const schema = driverOf(this.#orm).getSchemaName(meta)
    if (schema !== undefined) wrapped.__schema = schema
    wrapped.setSerializationContext({ populate: populate as never })
    all.push([entity, data])
    return entity
  }
}

/** Puts what was hydrated into an entity manager, as its factory does. */
export function register(em: EntityManager, hydrated: readonly Hydrated[]): void {
  for (const [entity, snapshot] of hydrated)
    em.getUnitOfWork().register(entity, snapshot, { refresh: true, loaded: true })
}

/** Whether a request's own entity manager, a transaction, a schema or a session of the database has a say now. */
export function isMore({ em }: MikroORM): boolean {
  return (
    em.getContext(false) !== em ||
    em.schema !== undefined ||
    Reflect.get(em, 'signal') !== undefined ||
    em.getSessionContext() !== undefined
  )
}

interface Filtered {
  readonly meta: EntityMetadata
  /** Which filters a relation turns on and off. */
  readonly options: object
}

const none = {}

/** The filters of a model and of its owner, as `em.findOne` has them applied. */
class Filters {
  readonly #em: EntityManager
  readonly #models: readonly Filtered[]
  #first: readonly unknown[] = []

  constructor({ em }: MikroORM, meta: EntityMetadata, owner: EntityProperty | undefined) {
    this.#em = em
    this.#models = [
      { meta, options: {} },
      ...(owner?.targetMeta
        ? [{ meta: owner.targetMeta, options: QueryHelper.mergePropertyFilters(owner.filters, {}) as object }]
        : []),
    ]
  }

  get metas(): EntityMetadata[] {
    return this.#models.map(({ meta }) => meta)
  }

  async areConstant(): Promise<boolean> {
    const global = this.#em.config.get('filters') as EntityMetadata['filters']
    const active = this.#models.flatMap(({ meta, options }) =>
      [global, meta.filters].flatMap((each) => QueryHelper.getActiveFilters(meta, options as never, each)),
    )
    if (active.some(({ cond, rls }) => typeof cond === 'function' || rls)) return false
    this.#first = await Promise.all(this.#models.map((each) => this.#now(each)))
    return true
  }

  /** The entity manager may have been given more of them. */
  async areTheSame(): Promise<boolean> {
    for (const [i, model] of this.#models.entries())
      if (!isDeepStrictEqual(await this.#now(model), this.#first[i])) return false
    return true
  }

  #now({ meta, options }: Filtered): Promise<unknown> {
    return this.#em.applyFilters(meta.class, none, options as never, 'read')
  }
}

/** The query builders that `em.findOne` makes. They ask for nothing. */
async function record(
  orm: MikroORM,
  { model, property, relation }: Sought,
  key: Key,
): Promise<QueryBuilder[]> {
  const recorded: QueryBuilder[] = []
  const driver = driverOf(orm)
  const recorder = Object.create(driver) as Driver
  recorder.createQueryBuilder = (...args) => {
    const qb = driver.createQueryBuilder(...args)
    qb.execute = async () => {
      recorded.push(qb)
      return []
    }
    return qb
  }
  const em = orm.em.fork()
  Reflect.set(em, 'driver', recorder)
  const populate = (relation === undefined ? [] : [relation]) as never
  await em.findOne<object>(model, { [property]: key } as object, { populate })
  return recorded
}

function driverOf(orm: MikroORM): Driver {
  return orm.driver as unknown as Driver
}

// A hook may change each query, or what a connection sees.
function isConfigured({ config, driver }: MikroORM): boolean {
  const usual = new Configuration({ driver: driver.constructor as never, dbName: '' }, false)
  const isAsUsual = [
    'onQuery',
    'onCreateConnection',
    'onReserveConnection',
    'disableIdentityMap',
    'slowQueryThreshold',
  ] as const
  return (
    isAsUsual.every((each) => config.get(each) === usual.get(each)) &&
    !config.get('forceEntityConstructor') &&
    !config.get('resultCache').global &&
    config.get('sessionContext') !== 'connection'
  )
}

function isTable(orm: MikroORM, meta: EntityMetadata): boolean {
  const isSpecial =
    meta.virtual ||
    meta.view ||
    meta.embeddable ||
    meta.inheritanceType ||
    meta.root.class !== meta.class ||
    meta.forceConstructor ||
    meta.serializedPrimaryKey ||
    meta.schema === '*' ||
    meta.primaryKeys.length !== 1
  return !isSpecial && !hasHooks(orm, meta)
}

function hasHooks({ em }: MikroORM, meta: EntityMetadata): boolean {
  return [EventType.onInit, EventType.onLoad].some((each) => em.getEventManager().hasListeners(each, meta))
}

/** Whether a property is a column that hydration just puts into the entity. */
function isColumn(meta: EntityMetadata, property: EntityProperty): boolean {
  const { kind, persist, fieldNames, formula, lazy, embedded, accessor, getter, setter, hydrate } = property
  const isSpecial = formula || lazy || embedded || accessor || getter || setter || hydrate === false
  if (isSpecial || property.hasConvertToJSValueSQL || kind !== ReferenceKind.SCALAR) return false
  // Of other columns MikroORM has put a setter of its own on the prototype.
  if ((persist === false || property.primary) && isOfClass(meta, property)) return false
  return persist === false || fieldNames?.length === 1
}

/** Whether the class has a say in what is put there. */
function isOfClass({ prototype }: EntityMetadata, { name }: EntityProperty): boolean {
  for (let each: object | null = prototype; each; each = Object.getPrototypeOf(each))
    if (Object.hasOwn(each, name)) return true
  return false
}

function isOwner(
  orm: MikroORM,
  { kind, owner, polymorphic, mapToPk, targetMeta, ...property }: EntityProperty,
): boolean {
  const isOne = kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && owner)
  const isSpecial =
    polymorphic || mapToPk || property.inversedBy || property.hydrate === false || property.primary
  return (
    isOne === true &&
    !isSpecial &&
    property.fieldNames?.length === 1 &&
    targetMeta !== undefined &&
    isTable(orm, targetMeta) &&
    targetMeta.props.every((each) => isColumn(targetMeta, each))
  )
}

/** A value of the type that is looked up, which nothing else has; `undefined` if it would not go into the query as it is. */
function sampleOf(property: EntityProperty | undefined): Key | undefined {
  if (property?.kind !== ReferenceKind.SCALAR || property.persist === false) return undefined
  const { customType, runtimeType } = property
  const number = Math.floor(Math.random() * 2 ** 30) + 2 ** 30
  if (!customType || customType.constructor === UuidType) {
    if (runtimeType === 'string') return crypto.randomUUID()
    if (runtimeType === 'number') return number
  }
  if (customType?.constructor !== BigIntType) return undefined
  return runtimeType === 'number' ? number : String(number)
}
