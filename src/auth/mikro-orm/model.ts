import type { EntityClass, EntityManager, EntityProperty } from '@mikro-orm/core'
import { BigIntType, EntitySchema, wrap } from '@mikro-orm/core'
import type { Class } from '../checks.ts'
import { Misuse } from '../errors.ts'
import { metadataOf } from './databases.ts'

/** The base class of a model: the class of a MikroORM schema, such as `UserSchema.class`. */
// biome-ignore lint/suspicious/noExplicitAny: TypeScript requires `any[]` for the base of a mixin (TS2545).
export type Base = abstract new (...args: any[]) => object

/** The names of the properties that hold a string. */
export type StringKey<Entity> = {
  [Key in keyof Entity & string]: Entity[Key] extends string ? Key : never
}[keyof Entity & string]

/** The names of the properties that hold a date, even a nullable one. */
export type DateKey<Entity> = {
  [Key in keyof Entity & string]: Exclude<Entity[Key], null | undefined> extends Date ? Key : never
}[keyof Entity & string]

/** The options that all authenticators of persisted models have. */
export interface ModelOptions {
  /** The name of the database in `databases()`, `default` by default. */
  readonly database?: string
}

/** Gives the class of a mixin the name of its base class. MikroORM treats a parent class with another name as an entity. */
export function nameAfter(model: Base, base: Base): void {
  Object.defineProperty(model, 'name', { value: base.name })
}

/** Omits a property from the JSON of a model, unless its base class has a `toJSON`. */
export function hideInJSON(model: Base, property: string): void {
  if ('toJSON' in model.prototype) return
  function toJSON(this: object): object {
    return wrap(this).toObject([property as never])
  }
  Object.defineProperty(model.prototype, 'toJSON', { value: toJSON, writable: true, configurable: true })
}

/** Throws `Misuse` if a model lacks a member. In TypeScript the compiler checks that. */
export function requireMember(model: Base, member: string, description: string): void {
  // The schema, because the ORM may not be initialised yet.
  const { properties = {} } = EntitySchema.REGISTRY.get(model as EntityClass<object>)?.meta ?? {}
  if (member in model.prototype || member in properties) return
  throw new Misuse(`${model.name} lacks \`${member}\`, ${description}.`)
}

/** The primary key of a model. Throws `Misuse` unless it is one string, number, bigint or relation. */
export function primaryKeyOf(em: EntityManager, model: Class): EntityProperty {
  const keyTypes = ['string', 'number', 'bigint', 'unknown']
  const { primaryKeys, properties } = metadataOf(em, model)
  const [name, ...others]: string[] = primaryKeys
  const property = (properties as Record<string, EntityProperty>)[name ?? '']
  // `unknown` is the type of a relation, which may be the primary key.
  if (!property || others.length > 0 || !keyTypes.includes(property.runtimeType))
    throw new Misuse(`${model.name} needs one primary key that is a string or a number.`)
  return property
}

/** Converts the text of a key to a value for a query. Returns `undefined` for a malformed key. */
export function keyFrom(property: EntityProperty, text: string): string | number | undefined {
  const { customType, runtimeType } = property
  if (typeof text !== 'string') return undefined
  const number = Number(text)
  if (runtimeType === 'number') return Number.isFinite(number) && String(number) === text ? number : undefined
  return customType instanceof BigIntType && !/^(0|-?[1-9]\d{0,18})$/.test(text) ? undefined : text
}
