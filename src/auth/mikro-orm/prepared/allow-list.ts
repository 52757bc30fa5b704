import { randomInt, randomUUID } from 'node:crypto'
import {
  BigIntType,
  Configuration,
  type EntityMetadata,
  type EntityProperty,
  EventType,
  type MikroORM,
  ReferenceKind,
  Utils,
  UuidType,
} from '@mikro-orm/core'
import type { Key } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'

// The versions of MikroORM for which `npm run equivalence` has passed. Any other version uses `em.findOne`.
const versions = ['7.2.1']

// With another value than the default, each of these options may change queries, rows, entities or the query log.
const options = [
  'disableIdentityMap',
  'entityManager',
  'filtersOnRelations',
  'forceEntityConstructor',
  'forceUndefined',
  'hydrator',
  'onCreateConnection',
  'onQuery',
  'onReserveConnection',
  'propagationOnPrototype',
  'sessionContext',
  'slowQueryThreshold',
] as const
// Each of these driver options may change the connection or the format of values.
const driverOptions = ['Client', 'binary', 'onPoolCreated']

/** Throws `NotPrepared` if the version, an option or a class of the application may change queries or entities. */
export function requirePlainORM({ config, driver, em }: MikroORM): void {
  const version = Utils.getORMVersion()
  if (!versions.includes(version))
    throw new NotPrepared(`\`prepared()\` does not know MikroORM ${version}, only ${versions.join(', ')}`)
  const plain = new Configuration({}, false)
  const option = options.find((each) => config.get(each) !== plain.get(each))
  if (option) throw new NotPrepared(`MikroORM has the option \`${option}\``)
  if (config.get('resultCache').global) throw new NotPrepared('MikroORM caches all results')
  if (config.get('flushMode') === 'always') throw new NotPrepared('MikroORM flushes before each query')
  const ofDriver = config.get('driverOptions')
  if (typeof ofDriver === 'function' || driverOptions.some((each) => each in Object(ofDriver)))
    throw new NotPrepared('MikroORM has `driverOptions` that may change values')
  for (const each of [em, driver, driver.getPlatform(), driver.getConnection('write'), config.getLogger()])
    if (!overridesNothing(each))
      throw new NotPrepared(`the application overrides a method of ${each.constructor.name}`)
}

// MikroORM's classes for SQLite and PostgreSQL, and its loggers.
const names =
  /^((Abstract|Base)?(Sql|Sqlite|PostgreSql)(EntityManager|Driver|Platform|Connection)|(Default|Simple)Logger)$/
const harmless = ['constructor', 'getORMClass', 'connect', 'isConnected', 'log', 'warn', 'error']

/** Whether the subclasses of the application override no method of MikroORM that a query may call. */
function overridesNothing(object: object): boolean {
  // Look-ups bypass a Kysely dialect, so a connection with a dialect must say that its dialect uses the native client too.
  const canQuery = 'sharesNativeClient' in object
  const own = Object.getOwnPropertyNames(object)
  let level: object = Object.getPrototypeOf(object)
  for (; !names.test(level.constructor.name); level = Object.getPrototypeOf(level)) {
    if (level === Object.prototype) return false
    own.push(...Object.getOwnPropertyNames(level))
  }
  const overridden = own.filter((name) => name in level && !harmless.includes(name))
  return overridden.every((name) => canQuery && name === 'createKyselyDialect')
}

/** Throws `NotPrepared` unless a model is a table with one primary key column, plain columns, and the relation. */
export function requirePlainModel(meta: EntityMetadata, relation?: EntityProperty): void {
  const isSpecial =
    meta.view ||
    meta.inheritanceType ||
    meta.root.class !== meta.class ||
    meta.forceConstructor ||
    meta.serializedPrimaryKey ||
    meta.schema === '*' ||
    meta.primaryKeys.length !== 1
  if (isSpecial) throw new NotPrepared(`${meta.className} is not a plain table with one primary key column`)
  const special = meta.props.find((each) => !(each === relation ? isRelation : isColumn)(meta, each))
  if (special) throw new NotPrepared(`\`${meta.className}.${special.name}\` is not a plain column`)
  if (relation?.targetMeta) requirePlainModel(relation.targetMeta)
}

/** Whether a hook is called for each loaded entity. An application may add one at any time. */
export function hasHooks({ em }: MikroORM, meta: EntityMetadata): boolean {
  return [EventType.onInit, EventType.onLoad].some((hook) => em.getEventManager().hasListeners(hook, meta))
}

/** Whether a relation is one column that refers to one model. */
function isRelation(meta: EntityMetadata, property: EntityProperty): boolean {
  const { fieldNames, formula, mapToPk, primary, targetMeta, filters } = property
  // Collections and inverse sides have no column. A polymorphic relation has two.
  if (fieldNames?.length !== 1 || formula || mapToPk || primary || !targetMeta) return false
  // With filters of its own, the relation may load an entity that the filters of the model exclude from a look-up by key.
  return filters === undefined && isAssigned(meta, property)
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

/**
 * A random key of the property's type, which marks its position in a query, and its type on PostgreSQL. Throws `NotPrepared` if a key may
 * be converted, or compared by other rules than those of these types.
 */
export function sampleKey(
  { className }: EntityMetadata,
  property: EntityProperty | undefined,
): { key: Key; type: 'bigint' | 'text' | 'uuid' } {
  const { customType, runtimeType, columnTypes } = property ?? {}
  const isColumn = property?.kind === ReferenceKind.SCALAR && property.persist !== false
  const isPlain = isColumn && (!customType || plainKeys.includes(customType.constructor))
  const column = String(columnTypes)
  const isInteger = /^\w*(int(eger|\d)?|serial)\b/i.test(column)
  if (isPlain && isInteger && runtimeType === 'number')
    return { key: randomInt(2 ** 30, 2 ** 31), type: 'bigint' }
  if (isPlain && isInteger && customType && runtimeType !== 'number')
    return { key: String(randomInt(2 ** 30, 2 ** 31)), type: 'bigint' }
  if (isPlain && runtimeType === 'string' && /^(uuid|text|varchar)\b/i.test(column))
    return { key: randomUUID(), type: column === 'uuid' ? 'uuid' : 'text' }
  throw new NotPrepared(`\`${className}.${property?.name}\` is not a plain key`)
}
