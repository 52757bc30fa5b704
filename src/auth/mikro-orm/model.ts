import {
  BigIntType,
  type EntityClass,
  type EntityManager,
  type EntityProperty,
  EntitySchema,
  UuidType,
  wrap,
} from '@mikro-orm/core'
import type { Class } from '../class.ts'
import { Misuse } from '../errors.ts'
import { isUUID } from '../uuid.ts'

/** The class that MikroORM makes of a schema, which a model extends: `UserSchema.class`. */
// A mixin's base takes whatever arguments its subclass passes on; TypeScript wants `any[]` there (TS2545).
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Base = abstract new (...args: any[]) => object

/** The properties of an entity that hold a string, for the keys that a contract asks for. */
export type StringKey<Entity> = {
  [Key in keyof Entity & string]: Entity[Key] extends string ? Key : never
}[keyof Entity & string]

/** The properties of an entity that hold a time, or nothing. */
export type DateKey<Entity> = {
  [Key in keyof Entity & string]: Exclude<Entity[Key], null | undefined> extends Date ? Key : never
}[keyof Entity & string]

/** How a persisted model's authenticator is made. */
export interface ModelOptions {
  /** The name under which `databases()` mounted the database, if not the default one. */
  readonly database?: string
}

/**
 * Makes the mixin's class pass for the one that MikroORM made of the schema: it takes a parent of another name for an
 * entity of its own, and goes round in circles.
 */
export function nameAfter(model: Base, base: Base): void {
  Object.defineProperty(model, 'name', { value: base.name })
}

/** Leaves a property out of the JSON of a model, unless its schema's class has a `toJSON` of its own. */
export function hideInJSON(model: Base, property: string): void {
  if ('toJSON' in model.prototype) return
  function toJSON(this: object): object {
    return wrap(this).toObject([property as never])
  }
  Object.defineProperty(model.prototype, 'toJSON', { value: toJSON, writable: true, configurable: true })
}

/** Plain JavaScript's share of what the compiler tells TypeScript, at the start rather than at the first log-in. */
export function requireMember(model: Base, member: string, what: string): void {
  const columns = EntitySchema.REGISTRY.get(model as EntityClass<object>)?.meta.properties ?? {}
  if (member in model.prototype || member in columns) return
  throw new Misuse(`${model.name} lacks \`${member}\`, ${what}.`)
}

const keyTypes = ['string', 'number', 'bigint', 'unknown']

/** The primary key of a model. Throws `Misuse` unless it is one column whose value is a string or a number. */
export function primaryKeyOf(em: EntityManager, model: Class): EntityProperty {
  const { primaryKeys, properties } = em.getMetadata().get<object>(model)
  const [name, ...others]: string[] = primaryKeys
  const property = (properties as Record<string, EntityProperty>)[name ?? '']
  // MikroORM does not know the type of a relation that is a key.
  if (!property || others.length > 0 || !keyTypes.includes(property.runtimeType))
    throw new Misuse(`${model.name} needs one primary key that is a string or a number.`)
  return property
}

/** What the database is asked for when a key is given as text: `undefined` if it cannot be one, which is no error then. */
export function keyFrom(property: EntityProperty, text: string): string | number | undefined {
  if (typeof text !== 'string' || !canBe(property, text)) return undefined
  return property.runtimeType === 'number' ? Number(text) : text
}

function canBe({ customType, runtimeType }: EntityProperty, key: string): boolean {
  if (customType instanceof UuidType) return isUUID(key)
  if (customType instanceof BigIntType) return /^(0|-?[1-9]\d{0,18})$/.test(key)
  // As many digits as a number keeps.
  if (runtimeType === 'number') return /^(0|-?[1-9]\d{0,14})$/.test(key)
  return !/\p{Cc}/u.test(key)
}
