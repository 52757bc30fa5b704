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

const queries = ['find', 'findOne', 'createQueryBuilder', 'mapResult', 'mapJoinedProps', 'mapJoinedProp']

/** Whether no subclass overrides a method of MikroORM between `em.findOne` and the native client. */
export function isDriverAllowed({ driver }: MikroORM): boolean {
  return (
    isOneClass(driver, queries) &&
    isOneClass(driver.getConnection('read'), ['execute', 'prepareQuery', 'transformRawResult'])
  )
}

function isOneClass(object: object, methods: readonly string[]): boolean {
  let type = object
  while (!methods.some((method) => Object.hasOwn(type, method))) type = Object.getPrototypeOf(type)
  return methods.every((method) => Object.hasOwn(type, method))
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
  const { fieldNames, mapToPk, primary, targetMeta, filters } = property
  // Collections and inverse sides have no column. A polymorphic relation has two.
  if (fieldNames?.length !== 1 || mapToPk || primary || !targetMeta) return false
  // With filters of its own, the relation may load an entity that a look-up by key must not find.
  return filters === undefined && isAssigned(meta, property) && isModelAllowed(targetMeta)
}

/** Whether hydration only assigns the value of one column. */
function isColumn(meta: EntityMetadata, property: EntityProperty): boolean {
  const { kind, persist, fieldNames, formula, primary, lazy, hasConvertToJSValueSQL } = property
  if (formula || hasConvertToJSValueSQL || (primary && lazy) || kind !== ReferenceKind.SCALAR) return false
  return isAssigned(meta, property) && (persist === false || fieldNames?.length === 1)
}

/** Whether hydration assigns the property without an accessor of the application. */
function isAssigned(meta: EntityMetadata, property: EntityProperty): boolean {
  const { name, persist, primary, accessor, getter, setter, hydrate } = property
  // For these properties, MikroORM defines no accessor on the prototype, so an accessor is the application's own.
  const hasAccessor = (persist === false || primary) && name in meta.prototype
  return !(hasAccessor || accessor || getter || setter || hydrate === false)
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
