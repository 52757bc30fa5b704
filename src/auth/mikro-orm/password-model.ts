import type { AuthContext, AuthMiddleware } from '../auth.ts'
import { BasicAuthenticator } from '../basic.ts'
import { type Class, requireBoolean, requireCall } from '../checks.ts'
import {
  CredentialsAuthenticator,
  type CredentialsOptions,
  type PasswordCredentials,
} from '../credentials.ts'
import { databasesOf, entityManager } from './databases.ts'
import { findOne } from './find-one.ts'
import {
  type Base,
  hideInJSON,
  type ModelOptions,
  metadataOf,
  nameAfter,
  requireMember,
  type StringKey,
} from './model.ts'
import { ModelSessionAuthenticatable, type SessionModel, type SessionModelClass } from './session-model.ts'

/** The contract of a model that authenticates by user name and password. */
export abstract class PasswordModel {
  /** Whether the password matches the stored hash. */
  abstract verify(password: string): boolean | Promise<boolean>
}

/** The properties of a password model. */
export interface PasswordKeys<Entity> {
  /** The user name, compared case-sensitively. */
  readonly username: StringKey<Entity>
  readonly passwordHash: StringKey<Entity>
}

/** The static side of a password model. `next?: never` rejects `app.use(User.authenticator)` at compile time. */
export interface PasswordModelClass<User = PasswordModel> extends SessionModelClass {
  /** The middleware for `Authorization: Basic` (RFC 7617). */
  authenticator(options?: ModelOptions, next?: never): AuthMiddleware
  /** The middleware for a user name and a password in the request body. */
  credentialsAuthenticator(options?: ModelOptions & CredentialsOptions, next?: never): AuthMiddleware
  /** Returns the user if the credentials are correct. Both middlewares call it. A model may override it. */
  findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<User | undefined>
  /**
   * Computes a dummy hash for an unknown user name, so that the response time does not reveal whether an account exists. The
   * default verifies the password against the hash of another user.
   */
  verifyNobody?(password: string): void | Promise<void>
}

type PasswordAuthenticatable = Class<PasswordModel> & PasswordModelClass<PasswordModel>

/**
 * A mixin for an entity with a password hash: `class User extends ModelAuthenticatable(UserSchema.class, { username: 'email',
 * passwordHash: 'passwordHash' })`. A session can hold the entity. The JSON omits the hash, unless the base
 * class has a `toJSON`. Make the column `hidden()` too, for `toObject()` and `serialize()` of MikroORM.
 */
export function ModelAuthenticatable<Entity extends Base>(
  base: Entity,
  keys: PasswordKeys<InstanceType<Entity>>,
) {
  abstract class Model extends (ModelSessionAuthenticatable(base) as Base) {
    static verifyNobody?(password: string): void | Promise<void>

    static authenticator(options: ModelOptions = {}): AuthMiddleware {
      requireCall(this, 'User.authenticator')
      const model = checkModel(this)
      return BasicAuthenticator.from(model, (basic, ctx) => model.findByCredentials(basic, ctx, options))
    }

    static credentialsAuthenticator(options: ModelOptions & CredentialsOptions = {}): AuthMiddleware {
      requireCall(this, 'User.credentialsAuthenticator')
      const model = checkModel(this)
      const find = (form: PasswordCredentials, ctx: AuthContext) =>
        model.findByCredentials(form, ctx, options)
      return CredentialsAuthenticator.from(model, find, options)
    }

    static async findByCredentials(
      { username, password }: PasswordCredentials,
      ctx: AuthContext,
      { database }: ModelOptions = {},
    ): Promise<PasswordModel | undefined> {
      const em = entityManager(ctx, database)
      const model = checkModel(this)
      metadataOf(em, model)
      // The hash may be a lazy column.
      const options = { model, property: keys.username, relation: keys.passwordHash }
      const found = await findOne(ctx, options, username, database)
      // The collation of the column may ignore case.
      const isExactly = found && Reflect.get(found, keys.username) === username
      const user = isExactly ? (found as PasswordModel) : undefined
      if (!user && this.verifyNobody) await this.verifyNobody(password)
      else if (!user) {
        const hasHash = { [keys.passwordHash]: { $ne: null } }
        const others = {
          populate: [keys.passwordHash],
          connectionType: databasesOf(ctx).connectionType,
        } as never
        const other = await em.fork().findOne<object>(model, hasHash, others)
        await (other as PasswordModel | null)?.verify(password)
      }
      return user && requireBoolean(await user.verify(password), 'The result of `verify`') ? user : undefined
    }
  }
  nameAfter(Model, base)
  hideInJSON(Model, keys.passwordHash)
  return Model as unknown as (abstract new () => InstanceType<Entity> & PasswordModel & SessionModel) &
    PasswordModelClass<InstanceType<Entity> & PasswordModel> &
    Omit<Entity, 'prototype'>
}

function checkModel(model: Base): PasswordAuthenticatable {
  requireMember(model, 'verify', 'the method that checks a password')
  return model as unknown as PasswordAuthenticatable
}
