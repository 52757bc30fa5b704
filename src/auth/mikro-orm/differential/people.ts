import { defineEntity, type EntityClass, type EntityManager, p } from '@mikro-orm/core'
import type { Class } from '../../class.ts'
import type { Application } from './application.ts'

/** A class that MikroORM knows. */
export type Model = EntityClass<object> & Class

type Values = Readonly<Record<string, unknown>>

/** A token whose user may be a reference, or missing. */
interface FoundToken {
  label: string
  user: { name: string; unwrap?(): { name: string } } | null | undefined
}

/** What an application has beside the plain columns of its users and tokens. */
export interface Special
  extends Partial<
    Pick<Application, 'options' | 'create' | 'prepare' | 'later' | 'finds' | 'value' | 'byKey' | 'fill'>
  > {
  /** Properties of the entities. */
  readonly user?: Values
  readonly token?: Values
  /** Options of the entities. */
  readonly userOptions?: object
  readonly tokenOptions?: object
  /** Values of the rows beside those that each row has. */
  readonly userRow?: Values
  readonly tokenRow?: Values
  /** Entities beside. */
  readonly entities?: readonly Model[]
  readonly sought?: Partial<Application['sought']>
  /** The relation of the token to its user. */
  relate?(User: Model): unknown
  change?(token: FoundToken): void
}

/** A token model and its user. Both have plain columns, and what is special about a kind. */
export function people(special: Special = {}): Application {
  const properties = { id: p.integer().primary(), name: p.string(), ...special.user }
  const User = model('User', properties, special.userOptions)
  const Token = model(
    'Token',
    {
      id: p.integer().primary(),
      value: p.string().unique(),
      label: p.string(),
      user: () => special.relate?.(User) ?? p.manyToOne(User),
      ...special.token,
    },
    special.tokenOptions,
  )
  return peopleOf(User, Token, special)
}

/** The same of classes of the kind's own. */
export function peopleOf(User: Model, Token: Model, special: Special = {}): Application {
  const { userRow, tokenRow, entities = [], sought, change = changeBoth, ...more } = special
  return {
    value: 'value',
    async fill(em: EntityManager) {
      await insert(em, User, { id: 1, name: 'Ada', ...userRow })
      await insert(em, Token, { id: 2, value: 'value', label: 'laptop', user: 1, ...tokenRow })
    },
    ...more,
    entities: [User, Token, ...entities],
    sought: { model: Token, property: 'value', relation: 'user', ...sought },
    change: (found) => change(found as FoundToken),
  }
}

/** Inserts a row with those of the values that are defined. */
export async function insert(em: EntityManager, type: Model, values: Values): Promise<void> {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  await em.insert(type, Object.fromEntries(defined) as never)
}

/** A class of an entity. */
export function model(name: string, properties: Values, options: object = {}): Model {
  const Schema = defineEntity({ name, properties, ...options })
  class Entity extends Schema.class {}
  Object.defineProperty(Entity, 'name', { value: name })
  Schema.setClass(Entity)
  return Entity
}

/** A token model for users of that class. */
export function tokensOf(User: Model): Model {
  return model('Token', {
    ...{ id: p.integer().primary(), value: p.string(), label: p.string() },
    user: () => p.manyToOne(User),
  })
}

/** Users and tokens that have a column of a kind, with a value that a flush changes to another. */
export function withColumn(property: () => unknown, value: unknown, other: unknown): Application {
  const row = { special: value }
  return people({
    ...{ user: { special: property() }, token: { special: property() }, userRow: row, tokenRow: row },
    change: (token) => {
      Reflect.set(token, 'special', other)
      if (token.user) Reflect.set(token.user, 'special', other)
    },
  })
}

function changeBoth(token: FoundToken): void {
  token.label = 'phone'
  const user = token.user?.unwrap?.() ?? token.user
  if (user) user.name = 'Grace'
}
