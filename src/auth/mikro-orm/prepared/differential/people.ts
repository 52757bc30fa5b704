import { defineEntity, type EntityClass, type EntityManager, p } from '@mikro-orm/core'
import type { Class } from '../../../checks.ts'
import type { Application } from './application.ts'

export type Model = EntityClass<object> & Class

type Values = Readonly<Record<string, unknown>>

/** A token whose user may be a reference, or missing. */
interface FoundToken {
  label: string
  user: { name: string; unwrap?(): { name: string } } | null | undefined
}

/** A variation of the plain user and token models. */
export interface Variation
  extends Partial<
    Pick<Application, 'options' | 'create' | 'prepare' | 'later' | 'finds' | 'value' | 'byKey' | 'fill'>
  > {
  /** Additional properties of the entities. */
  readonly user?: Values
  readonly token?: Values
  /** Options of the entities. */
  readonly userOptions?: object
  readonly tokenOptions?: object
  /** Additional values of the rows. */
  readonly userRow?: Values
  readonly tokenRow?: Values
  /** Additional entities. */
  readonly entities?: readonly Model[]
  readonly lookUpOptions?: Partial<Application['lookUpOptions']>
  /** The relation of the token to its user. */
  relate?(User: Model): unknown
  change?(token: FoundToken): void
}

/** A token model and its user model, with a variation. */
export function people(variation: Variation = {}): Application {
  const properties = { id: p.integer().primary(), name: p.string(), ...variation.user }
  const User = model('User', properties, variation.userOptions)
  const Token = model(
    'Token',
    {
      id: p.integer().primary(),
      value: p.string().unique(),
      label: p.string(),
      user: () => variation.relate?.(User) ?? p.manyToOne(User),
      ...variation.token,
    },
    variation.tokenOptions,
  )
  return peopleOf(User, Token, variation)
}

/** A token model and its user model from the given classes. */
export function peopleOf(User: Model, Token: Model, variation: Variation = {}): Application {
  const { userRow, tokenRow, entities = [], lookUpOptions, change = changeBoth, ...more } = variation
  return {
    value: 'value',
    async fill(em: EntityManager) {
      await insert(em, User, { id: 1, name: 'Ada', ...userRow })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1, ...tokenRow })
    },
    ...more,
    entities: [User, Token, ...entities],
    lookUpOptions: { model: Token, property: 'value', relation: 'user', ...lookUpOptions },
    change: (found) => change(found as FoundToken),
  }
}

/** Inserts a row, without undefined values. */
export async function insert(em: EntityManager, type: Model, values: Values): Promise<void> {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  await em.insert(type, Object.fromEntries(defined) as never)
}

/** Defines an entity class. */
export function model(name: string, properties: Values, options: object = {}): Model {
  const Schema = defineEntity({ name, properties, ...options })
  class Entity extends Schema.class {}
  Object.defineProperty(Entity, 'name', { value: name })
  Schema.setClass(Entity)
  return Entity
}

/** A token model for users of this class. */
export function tokensOf(User: Model, user: () => unknown = () => p.manyToOne(User)): Model {
  return model('Token', { id: p.integer().primary(), value: p.string(), label: p.string(), user })
}

/** Users and tokens with additional columns: the property, the stored value, and the value that `change` sets. */
export function withColumns(
  columns: Readonly<Record<string, readonly [property: unknown, value: unknown, other: unknown] | unknown[]>>,
): Application {
  const names = Object.keys(columns)
  const part = (i: number) => Object.fromEntries(names.map((name) => [name, columns[name]?.[i]]))
  return people({
    ...{ user: part(0), token: part(0), userRow: part(1), tokenRow: part(1) },
    change: (token) => {
      Object.assign(token, part(2))
      if (token.user) Object.assign(token.user, part(2))
    },
  })
}

function changeBoth(token: FoundToken): void {
  token.label = 'phone'
  const user = token.user?.unwrap?.() ?? token.user
  if (user) user.name = 'Grace'
}
