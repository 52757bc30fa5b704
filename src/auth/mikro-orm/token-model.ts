import { randomBytes } from 'node:crypto'
import { type EntityProperty, type OptionalProps, Reference, wrap } from '@mikro-orm/core'
import type { AuthContext, AuthMiddleware } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import { type Class, requireBoolean, requireCall } from '../checks.ts'
import { Misuse } from '../errors.ts'
import { databasesOf, entityManager, metadataOf } from './databases.ts'
import { hasVisibleOwner } from './has-visible-owner.ts'
import { LookUp } from './look-up.ts'
import {
  type Base,
  hideInJSON,
  type ModelOptions,
  nameAfter,
  requireMember,
  type StringKey,
} from './model.ts'

/** The contract of a model that authenticates its user by bearer token. */
export abstract class TokenModel {
  declare [OptionalProps]?: 'isValid'
  /** Whether the token is valid. An invalid token is deleted when a request sends it. */
  abstract readonly isValid: boolean
}

/** The properties of a token model. */
export interface TokenKeys<Entity> {
  /** The property with the token, or with its digest if the model overrides `stored`. */
  readonly value: StringKey<Entity>
  /** The relation to the owner of the token. */
  readonly user: keyof Entity & string
}

/** The static side of a token model. */
export interface TokenModelClass {
  /** The middleware for `Authorization: Bearer` (RFC 6750). Logs in the token and its user. */
  authenticator(options?: ModelOptions, next?: never): AuthMiddleware
  /** The stored value of a token, such as a digest. By default the token itself. `undefined` rejects the token without a query. */
  stored(token: string): string | undefined
}

type TokenAuthenticatable = Class<TokenModel> & TokenModelClass

/**
 * A mixin for a token entity that authenticates its user: `class UserToken extends
 * ModelTokenAuthenticatable(UserTokenSchema.class, { value: 'value', user: 'user' })`. The JSON omits the value, unless
 * the base class has a `toJSON`. Make the column `hidden()` too, for `toObject()` and `serialize()` of MikroORM.
 */
export function ModelTokenAuthenticatable<Entity extends Base>(
  base: Entity,
  keys: TokenKeys<InstanceType<Entity>>,
) {
  abstract class Model extends (base as Base) {
    static authenticator({ database }: ModelOptions = {}): AuthMiddleware {
      requireCall(this, 'UserToken.authenticator')
      requireMember(this, 'isValid', 'the property for the validity of the token')
      const model = this as unknown as TokenAuthenticatable
      return new ModelTokenAuthenticator(model, keys, database).middleware()
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

/** A new token value: random bytes in base64. 16 bytes are 128 bits (OWASP ASVS 7.2.3). */
export function generateToken(bytes = 16): string {
  return randomBytes(bytes).toString('base64')
}

class ModelTokenAuthenticator extends BearerAuthenticator<TokenModel> {
  readonly user: TokenAuthenticatable
  readonly #relation: string
  readonly #database: string | undefined
  readonly #tokens: LookUp<TokenModel>

  constructor(model: TokenAuthenticatable, keys: Record<'value' | 'user', string>, database?: string) {
    super()
    this.user = model
    this.#relation = keys.user
    this.#database = database
    this.#tokens = new LookUp({ model, property: keys.value, relation: keys.user })
  }

  override async authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
    const value = this.user.stored(token)
    const found = value === undefined ? undefined : await this.#tokens.find(ctx, value, this.#database)
    if (!found) return undefined
    if (!requireBoolean(found.isValid, '`isValid`')) {
      await this.#delete(found, ctx)
      return undefined
    }
    const user: object | null = Reflect.get(found, this.#relation)
    if (!user) return undefined
    // Without an entity manager, `prepared()` has found the token. It uses `em.findOne` unless it can apply all filters to the owner.
    const isChecked = !databasesOf(ctx).hasManager(this.#database)
    if (!isChecked && !(await hasVisibleOwner(ctx, found, this.#relation, this.#database))) return undefined
    const owner = Reference.unwrapReference(user)
    const type = this.#ownersOf(ctx).find((each) => owner instanceof each)
    ctx.auth.login(owner, type)
    databasesOf(ctx).noteUse(found)
    return found
  }

  async #delete(token: TokenModel, ctx: AuthContext): Promise<void> {
    const key = wrap(token, true).getPrimaryKey() as object
    await entityManager(ctx, this.#database).nativeDelete<object>(this.user, key)
  }

  /** Skipped if a user of an owner's class is already authenticated, for example by password. */
  override isSkipped(ctx: AuthContext): boolean {
    return this.#ownersOf(ctx).some((type) => ctx.auth.peek(type) !== undefined)
  }

  /** The classes of the owners. A polymorphic relation has several. */
  #ownersOf(ctx: AuthContext): readonly Class[] {
    const { em } = databasesOf(ctx).orm(this.#database)
    const { properties } = metadataOf(em, this.user)
    const relation: EntityProperty | undefined = Reflect.get(properties, this.#relation)
    const targets = relation?.polymorphTargets ?? [relation?.targetMeta]
    const owners = targets.flatMap((target) => target?.class ?? [])
    if (owners.length === 0)
      throw new Misuse(`\`${this.#relation}\` of ${this.user.name} must be a relation to its user.`)
    return owners
  }
}
