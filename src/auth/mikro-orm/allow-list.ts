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

// Each of these options may change a query, the rows that a connection reads, or the entities.
const defaults = [
  'disableIdentityMap',
  'entityManager',
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

let plain: Configuration | undefined

/** Whether the configuration changes neither queries nor entities, so that a query can be replayed. */
export function isConfigurationAllowed({ config }: MikroORM): boolean {
  plain ??= new Configuration({}, false)
  for (const option of defaults) if (config.get(option) !== plain.get(option)) return false
  return (
    !config.get('replicas')?.some((replica) => replica.onCreateConnection || replica.onReserveConnection) &&
    !config.get('resultCache').global
  )
}

/** Whether no subclass overrides a method of MikroORM between `em.findOne` and the native client. */
export function isDriverAllowed({ driver }: MikroORM): boolean {
  return (
    isOneClass(driver, ['find', 'findOne', 'createQueryBuilder']) &&
    isOneClass(driver.getConnection('read'), ['execute', 'prepareQuery', 'transformRawResult'])
  )
}

function isOneClass(object: object, methods: readonly string[]): boolean {
  let type = object
  while (!methods.some((method) => Object.hasOwn(type, method))) type = Object.getPrototypeOf(type)
  return methods.every((method) => Object.hasOwn(type, method))
}

/** Whether a model is a table with one primary key column, and all its properties except the relation are plain columns. */
export function isModelAllowed(meta: EntityMetadata, relation?: EntityProperty): boolean {
  const isSpecial =
    meta.view ||
    meta.inheritanceType ||
    meta.root.class !== meta.class ||
    meta.forceConstructor ||
    meta.serializedPrimaryKey ||
    meta.schema === '*' ||
    meta.primaryKeys.length !== 1
  return !isSpecial && meta.props.every((property) => property === relation || isColumn(meta, property))
}

/** Whether a hook is called for each loaded entity. An application may add one at any time. */
export function hasHooks({ em }: MikroORM, meta: EntityMetadata): boolean {
  return [EventType.onInit, EventType.onLoad].some((hook) => em.getEventManager().hasListeners(hook, meta))
}

/** Whether a relation is one column that refers to one plain model. */
export function isRelationAllowed(property: EntityProperty): boolean {
  const { fieldNames, mapToPk, hydrate, primary, targetMeta } = property
  // Collections and inverse sides have no column. A polymorphic relation has two.
  if (fieldNames?.length !== 1 || mapToPk || hydrate === false || primary || !targetMeta) return false
  return isModelAllowed(targetMeta)
}

/** Whether hydration only assigns the value of one column to the property. */
function isColumn(meta: EntityMetadata, property: EntityProperty): boolean {
  const { kind, persist, fieldNames, formula, accessor, getter, setter, hydrate } = property
  const isSpecial = formula || accessor || getter || setter || hydrate === false
  if (isSpecial || property.hasConvertToJSValueSQL || kind !== ReferenceKind.SCALAR) return false
  // For these properties, MikroORM defines no accessor on the prototype, so an accessor is the application's own.
  if ((persist === false || property.primary) && property.name in meta.prototype) return false
  return persist === false || fieldNames?.length === 1
}

/** A random key of the property's type, to find its place in a query. `undefined` if MikroORM may convert the key. */
export function sampleKey(property: EntityProperty | undefined): Key | undefined {
  if (property?.kind !== ReferenceKind.SCALAR || property.persist === false) return undefined
  const { customType, runtimeType, columnTypes } = property
  // PostgreSQL compares a number literal with a `real` as `double precision`, but a parameter as `real`.
  if (runtimeType === 'number' && !/^\w*(int(eger|\d)?|serial)\b/i.test(String(columnTypes))) return undefined
  const number = randomInt(2 ** 30, 2 ** 31)
  if (!customType || customType.constructor === UuidType) {
    if (runtimeType === 'string') return randomUUID()
    if (runtimeType === 'number') return number
  }
  if (customType?.constructor !== BigIntType) return undefined
  return runtimeType === 'number' ? number : String(number)
}
