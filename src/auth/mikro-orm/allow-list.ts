import { randomInt, randomUUID } from 'node:crypto'
import {
  BigIntType,
  Configuration,
  type EntityMetadata,
  type EntityProperty,
  EventType,
  type MikroORM,
  ReferenceKind,
  UuidType,
} from '@mikro-orm/core'
import type { Key } from './prepared-statement.ts'

const queryOptions = ['filtersOnRelations', 'onQuery', 'sessionContext', 'slowQueryThreshold'] as const
const connectionHooks = ['onCreateConnection', 'onReserveConnection'] as const
const entityOptions = ['forceEntityConstructor', 'forceUndefined', 'hydrator'] as const
const managerOptions = ['disableIdentityMap', 'entityManager', 'propagationOnPrototype'] as const
// With another value than the default, each of these options may change queries, rows, entities or the query log.
const defaults = [...queryOptions, ...connectionHooks, ...entityOptions, ...managerOptions]
// Each of these driver options may change the connection or the format of values.
const driverOptions = ['Client', 'binary', 'onPoolCreated']

/** Whether the options and classes of the application leave queries and entities unchanged. */
export function isORMAllowed({ config, driver, em }: MikroORM): boolean {
  const plain = new Configuration({}, false)
  const objects = [em, driver, driver.getPlatform(), driver.getConnection('read'), config.getLogger()]
  return (
    defaults.every((option) => config.get(option) === plain.get(option)) &&
    !config.get('replicas')?.some((each) => each.driverOptions || connectionHooks.some((it) => each[it])) &&
    !config.get('resultCache').global &&
    !driverOptions.some((option) => option in Object(config.get('driverOptions'))) &&
    typeof config.get('driverOptions') !== 'function' &&
    config.get('flushMode') !== 'always' &&
    objects.every(overridesNothing)
  )
}

/** Returns a function that tells whether the options of MikroORM are still the same. */
export function watchOptions({ config }: MikroORM): () => boolean {
  const options = config.getAll() as object as Readonly<Record<string, unknown>>
  const recorded = Object.entries(options)
  return () =>
    recorded.every(([name, value]) => options[name] === value) &&
    Object.keys(options).length === recorded.length
}

// MikroORM's classes for SQLite and PostgreSQL, their parents, and its loggers.
const names =
  /^(((Abstract|Base)?(Sql|Sqlite|PostgreSql)|Database)?(EntityManager|Driver|Platform|Connection)|(Default|Simple)Logger)$/
const harmless = ['constructor', 'getORMClass', 'connect', 'checkConnection', 'log', 'warn', 'error']

/** Whether the subclasses of the application override no method of MikroORM that a query may call. */
function overridesNothing(object: object): boolean {
  const levels: object[] = []
  for (let each = object; each !== Object.prototype; each = Object.getPrototypeOf(each)) levels.push(each)
  const nameOf = (level: object) => (Object.hasOwn(level, 'constructor') ? level.constructor.name : '')
  const bases = levels.filter((level) => names.test(nameOf(level)))
  // A class of the application may have the name of the class that it extends.
  if (bases.length === 0 || new Set(bases.map(nameOf)).size < bases.length) return false
  const own = levels.slice(0, levels.indexOf(bases[0] ?? object)).flatMap(Object.getOwnPropertyNames)
  const overridden = own.filter((name) => bases.some((base) => Object.hasOwn(base, name)))
  // Look-ups bypass a Kysely dialect, but call `ask` and `assertReadable`. A connection with a dialect must define one of them.
  const canQuery = 'ask' in object || 'assertReadable' in object
  return overridden.every((name) => harmless.includes(name) || (canQuery && name === 'createKyselyDialect'))
}

/** Whether a model is a table with one primary key column, and all its properties are plain columns or the relation. */
export function isModelAllowed(meta: EntityMetadata, relation?: EntityProperty): boolean {
  const isSpecial =
    meta.view ||
    meta.inheritanceType ||
    meta.root.class !== meta.class ||
    meta.forceConstructor ||
    meta.serializedPrimaryKey ||
    meta.schema === '*' ||
    meta.primaryKeys.length !== 1
  return !isSpecial && meta.props.every((each) => (each === relation ? isRelation : isColumn)(meta, each))
}

/** Whether a hook is called for each loaded entity. An application may add one at any time. */
export function hasHooks({ em }: MikroORM, meta: EntityMetadata): boolean {
  return [EventType.onInit, EventType.onLoad].some((hook) => em.getEventManager().hasListeners(hook, meta))
}

/** Whether a relation is one column that refers to one plain model. */
function isRelation(meta: EntityMetadata, property: EntityProperty): boolean {
  const { fieldNames, formula, mapToPk, primary, targetMeta, filters } = property
  // Collections and inverse sides have no column. A polymorphic relation has two.
  if (fieldNames?.length !== 1 || formula || mapToPk || primary || !targetMeta) return false
  // With filters of its own, the relation may load an entity that the filters of the model exclude from a look-up by key.
  return filters === undefined && isAssigned(meta, property) && isModelAllowed(targetMeta)
}

const plainKeys: readonly unknown[] = [BigIntType, UuidType]

/** Whether a scalar property has at most one column, and no formula, accessor or conversion in SQL on read. */
function isColumn(meta: EntityMetadata, property: EntityProperty): boolean {
  const { customType, fieldNames = [] } = property
  if (property.kind !== ReferenceKind.SCALAR || property.formula || property.hasConvertToJSValueSQL)
    return false
  // MikroORM converts a primary key several times, which may change the result of a custom type.
  const isStable = !customType || plainKeys.includes(customType.constructor)
  if (property.primary && (property.lazy || !isStable)) return false
  const hasColumn = fieldNames.length === 1 || (fieldNames.length === 0 && property.persist === false)
  return hasColumn && isAssigned(meta, property)
}

/** Whether hydration assigns the property without an accessor of the application. */
function isAssigned(meta: EntityMetadata, property: EntityProperty): boolean {
  const { name, persist, primary, accessor, getter, setter, hydrate } = property
  // For a persisted property that is no primary key, MikroORM may define a setter on the prototype, but no getter.
  const hasAccessor =
    ((persist === false || primary) && name in meta.prototype) ||
    Object.getOwnPropertyDescriptor(meta.prototype, name)?.get !== undefined
  return !(hasAccessor || accessor || getter || setter || hydrate === false)
}

/** A random key of the property's type, which marks its position in a query. `undefined` if the key may be converted. */
export function sampleKey(property: EntityProperty | undefined): Key | undefined {
  if (property?.kind !== ReferenceKind.SCALAR || property.persist === false) return undefined
  const { customType, runtimeType, columnTypes } = property
  // In a comparison with a `real` column, PostgreSQL reads a literal as `double precision`, but a parameter as `real`.
  if (runtimeType === 'number' && !/^\w*(int(eger|\d)?|serial)\b/i.test(String(columnTypes))) return undefined
  if (customType && !plainKeys.includes(customType.constructor)) return undefined
  if (runtimeType === 'number') return randomInt(2 ** 30, 2 ** 31)
  if (customType?.constructor === BigIntType) return String(randomInt(2 ** 30, 2 ** 31))
  return runtimeType === 'string' ? randomUUID() : undefined
}
