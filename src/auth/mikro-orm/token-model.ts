import { randomBytes } from 'node:crypto'
import {
  type EntityClass,
  type EntityProperty,
  EntitySchema,
  type MikroORM,
  type OptionalProps,
  Reference,
  wrap,
} from '@mikro-orm/core'
import type { AuthContext, AuthMiddleware } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import type { Class } from '../class.ts'
import { Misuse, yesOrNo } from '../errors.ts'
import { databasesOf, entityManager } from './databases.ts'
import { LookUp } from './look-up.ts'
import {
  type Base,
  hideInJSON,
  type ModelOptions,
  nameAfter,
  requireMember,
  type StringKey,
} from './model.ts'

/** What a model that authenticates its user by bearer token has to have. */
export abstract class TokenModel {
  declare [OptionalProps]?: 'isValid'
  /** Whether the token still counts. One that does not is deleted when it is used. */
  abstract readonly isValid: boolean
}

/** The properties of such a model. */
export interface TokenKeys<Entity> {
  /** Where the token's value is, as `stored` makes it. */
  readonly value: StringKey<Entity>
  /** The relation to the user whose token it is. */
  readonly user: keyof Entity & string
}

/** What the class of such a model has. */
export interface TokenModelClass {
  /** The middleware for `Authorization: Bearer`; it logs in the token and its user. */
  authenticator(options?: ModelOptions): AuthMiddleware
  /**
   * What is looked up for a token as it was sent: the token itself, unless the model keeps a digest and says so here.
   * `undefined` if it cannot be one of ours, and then the database is not asked.
   */
  stored(token: string): string | undefined
}

type TokenAuthenticatable = Class<TokenModel> & TokenModelClass

/**
 * A persisted token that authenticates its user (specification, "ModelTokenAuthenticatable"):
 * `class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, { value: 'value', user: 'user' })`.
 * Its JSON has no token value. Make the column `hidden()` too, for MikroORM's other serialisations.
 */
export function ModelTokenAuthenticatable<Entity extends Base>(
  base: Entity,
  keys: TokenKeys<InstanceType<Entity>>,
) {
  // A generic base is known to be a class, but not to be one that can be extended.
  abstract class Model extends (base as Base) {
    static authenticator({ database }: ModelOptions = {}): AuthMiddleware {
      requireEntity(this, keys.user)
      return new ModelTokenAuthenticator(checked(this), keys, database).middleware()
    }

    static stored(token: string): string | undefined {
      return token
    }
  }
  nameAfter(Model, base)
  hideInJSON(Model, keys.value)
  return Model as unknown as (abstract new () => InstanceType<Entity> & TokenModel) &
    TokenModelClass &
    Omit<Entity, 'prototype'>
}

/** A new token value: random bytes in base64 (specification, "Bearer", 5). */
export function generateToken(bytes = 16): string {
  return randomBytes(bytes).toString('base64')
}

function checked(model: Base): TokenAuthenticatable {
  requireMember(model, 'isValid', 'the property that tells whether the token still counts')
  return model as unknown as TokenAuthenticatable
}

class ModelTokenAuthenticator extends BearerAuthenticator<TokenModel> {
  readonly user: TokenAuthenticatable
  readonly #relation: string
  readonly #database: string | undefined
  readonly #tokens: LookUp<TokenModel>
  #lastOwner: { readonly orm: MikroORM; readonly type: Class } | undefined

  constructor(
    user: TokenAuthenticatable,
    keys: { value: string; user: string },
    database: string | undefined,
  ) {
    super()
    this.user = user
    this.#relation = keys.user
    this.#database = database
    this.#tokens = new LookUp({ model: user, property: keys.value, relation: keys.user })
  }

  override async authenticate({ token }: BearerAuthorization, ctx: AuthContext): Promise<void> {
    const value = this.user.stored(token)
    const found = value === undefined ? undefined : await this.#tokens.find(ctx, value, this.#database)
    if (!found) return
    if (!yesOrNo(found.isValid, '`isValid`')) return this.#delete(found, ctx)
    // The relation is populated, and may be wrapped (`ref()`); its property was proven to be one of the entity.
    const user = (found as unknown as Record<string, object | null>)[this.#relation]
    if (!user) return
    ctx.auth.login(found, this.user)
    ctx.auth.login(Reference.unwrapReference(user), this.#ownerOf(ctx))
  }

  async #delete(token: TokenModel, ctx: AuthContext): Promise<void> {
    const key = wrap(token, true).getPrimaryKey()
    await entityManager(ctx, this.#database).nativeDelete(this.user, key as never)
  }

  /** Nothing is left to do where the token's user is authenticated, by password, say. */
  override isSpared(ctx: AuthContext): boolean {
    return ctx.auth.peek(this.#ownerOf(ctx)) !== undefined
  }

  #ownerOf(ctx: AuthContext): Class {
    const orm = databasesOf(ctx).orm(this.#database)
    // Two times on every request, and the same as long as it is the same database.
    if (this.#lastOwner?.orm !== orm) this.#lastOwner = { orm, type: this.#ownerIn(orm) }
    return this.#lastOwner.type
  }

  #ownerIn(orm: MikroORM): Class {
    const { properties } = orm.getMetadata().get<object>(this.user)
    const relation: EntityProperty | undefined = Reflect.get(properties, this.#relation)
    const owner = relation?.polymorphic ? undefined : relation?.targetMeta?.class
    if (!owner)
      throw new Misuse(`\`${this.#relation}\` of ${this.user.name} must be a relation to one class of users.`)
    return owner
  }
}

/** Refuses a relation with `mapToPk()`: it holds the key of the user, and a request needs the user. */
function requireEntity(model: Base, relation: string): void {
  const columns = EntitySchema.REGISTRY.get(model as EntityClass<object>)?.meta.properties ?? {}
  if (Reflect.get(columns, relation)?.mapToPk)
    throw new Misuse(
      `Remove \`mapToPk()\` from \`${relation}\` of ${model.name}: the token has to load its user.`,
    )
}
