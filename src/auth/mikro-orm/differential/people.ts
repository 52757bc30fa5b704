import { defineEntity, type EntityClass, type EntityManager, p } from '@mikro-orm/core'
import type { Class } from '../../class.ts'
import type { Application } from './compare.ts'

/** A class that MikroORM knows. */
export type Model = EntityClass<object> & Class

type Properties = Readonly<Record<string, unknown>>
type Values = Readonly<Record<string, unknown>>

/** What an application has beside the plain columns of its users and tokens. */
export interface Special {
  readonly user?: Properties
  readonly token?: Properties
  /** Options of the entities. */
  readonly userOptions?: object
  readonly tokenOptions?: object
  /** The values of the rows' special columns. */
  readonly userRow?: Values
  readonly tokenRow?: Values
  /** How the relation of the token to its user is defined. */
  relate?(User: EntityClass<object>): unknown
  readonly options?: Application['options']
  readonly prepare?: Application['prepare']
  change?(token: { label: string; user: { name: string } }): void
}

/** A token model and its user. Both have plain columns, and what is special about a kind. */
export function people(special: Special = {}): Application {
  const UserSchema = defineEntity({
    name: 'User',
    properties: { id: p.integer().primary(), name: p.string(), ...special.user },
    ...special.userOptions,
  })
  class User extends UserSchema.class {}
  UserSchema.setClass(User)
  const TokenSchema = defineEntity({
    name: 'Token',
    properties: {
      id: p.integer().primary(),
      value: p.string().unique(),
      label: p.string(),
      user: () => special.relate?.(User) ?? p.manyToOne(User),
      ...special.token,
    },
    ...special.tokenOptions,
  })
  class Token extends TokenSchema.class {}
  TokenSchema.setClass(Token)
  return application(User, Token, special)
}

/** The same of classes of the kind's own. */
export function application(
  User: Model,
  Token: Model,
  { userRow, tokenRow, options, prepare, change = changeBoth }: Special = {},
): Application {
  return {
    entities: [User, Token],
    sought: { model: Token, property: 'value', relation: 'user' },
    value: 'value',
    async fill(em: EntityManager) {
      await em.insert(User, { id: 1, name: 'Ada', ...userRow } as never)
      await em.insert(Token, { id: 2, value: 'value', label: 'laptop', user: 1, ...tokenRow } as never)
    },
    change: (found) => change(found as never),
    options,
    ...(prepare && { prepare }),
  }
}

function changeBoth(token: { label: string; user: { name: string } }): void {
  token.label = 'phone'
  const user = 'unwrap' in token.user ? (token.user.unwrap as () => { name: string })() : token.user
  if (user) user.name = 'Grace'
}

/** Users and tokens that have a column of a kind, with a value that a flush changes to another. */
export function withColumn(property: () => unknown, value: unknown, other: unknown): Application {
  const row = { special: value }
  return people({
    ...{ user: { special: property() }, token: { special: property() }, userRow: row, tokenRow: row },
    change: (token) => {
      Reflect.set(token, 'special', other)
      Reflect.set(token.user, 'special', other)
    },
  })
}
