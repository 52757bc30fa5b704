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

// A hook may change each query, or the rows that a connection sees.
const defaults = [
  'onQuery',
  'onCreateConnection',
  'onReserveConnection',
  'disableIdentityMap',
  'slowQueryThreshold',
] as const

/** Whether nothing in the configuration changes queries or entities in a way that replaying a query would miss. */
export function isConfigurationAllowed({ config, driver }: MikroORM): boolean {
  const plain = new Configuration({ driver: driver.constructor as never, dbName: '' }, false)
  return (
    defaults.every((option) => config.get(option) === plain.get(option)) &&
    !config.get('replicas')?.some(({ onCreateConnection }) => onCreateConnection) &&
    !config.get('forceEntityConstructor') &&
    !config.get('forceUndefined') &&
    !config.get('resultCache').global &&
    config.get('sessionContext') !== 'connection'
  )
}

/** Whether a model is a table with one primary key column, and its properties are plain columns and perhaps that relation. */
export function isModelAllowed(orm: MikroORM, meta: EntityMetadata, relation?: EntityProperty): boolean {
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
  return (
    !isSpecial &&
    !hasHooks(orm, meta) &&
    meta.props.every((property) => property === relation || isColumn(meta, property))
  )
}

/** Whether a hook is called for each loaded entity. An application may add one at any time. */
export function hasHooks({ em }: MikroORM, meta: EntityMetadata): boolean {
  return [EventType.onInit, EventType.onLoad].some((hook) => em.getEventManager().hasListeners(hook, meta))
}

/** Whether a relation is one column that refers to one plain model. */
export function isRelationAllowed(orm: MikroORM, property: EntityProperty): boolean {
  const { kind, owner, polymorphic, mapToPk, inversedBy, hydrate, primary, targetMeta } = property
  const isToOne = kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && owner)
  const isSpecial = polymorphic || mapToPk || inversedBy || hydrate === false || primary
  return (
    isToOne === true &&
    !isSpecial &&
    property.fieldNames?.length === 1 &&
    targetMeta !== undefined &&
    isModelAllowed(orm, targetMeta)
  )
}

/** Whether hydration only assigns the value of one column to the property. */
function isColumn(meta: EntityMetadata, property: EntityProperty): boolean {
  const { kind, persist, fieldNames, formula, lazy, embedded, accessor, getter, setter, hydrate } = property
  const isSpecial = formula || lazy || embedded || accessor || getter || setter || hydrate === false
  if (isSpecial || property.hasConvertToJSValueSQL || kind !== ReferenceKind.SCALAR) return false
  // For all other columns, MikroORM itself defines the accessor on the prototype.
  if ((persist === false || property.primary) && property.name in meta.prototype) return false
  return persist === false || fieldNames?.length === 1
}

/**
 * A random key of the property's type, which occurs nowhere else in a query. `undefined` if MikroORM may put another value into the
 * query than the one that is sought.
 */
export function sampleKey(property: EntityProperty | undefined): Key | undefined {
  if (property?.kind !== ReferenceKind.SCALAR || property.persist === false) return undefined
  const { customType, runtimeType } = property
  const number = randomInt(2 ** 30, 2 ** 31)
  if (!customType || customType.constructor === UuidType) {
    if (runtimeType === 'string') return randomUUID()
    if (runtimeType === 'number') return number
  }
  if (customType?.constructor !== BigIntType) return undefined
  return runtimeType === 'number' ? number : String(number)
}
