import type { AuthContext, AuthMiddleware } from '../auth.ts'
import { BasicAuthenticator } from '../basic.ts'
import { type Class, requireBoolean, requireCall } from '../checks.ts'
import {
  CredentialsAuthenticator,
  type CredentialsOptions,
  type PasswordCredentials,
} from '../credentials.ts'
import { databasesOf, entityManager, metadataOf } from './databases.ts'
import { findOne } from './look-up.ts'
import {
  type Base,
  hideInJSON,
  type ModelOptions,
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
   * default calls `verify` of an object that has only a hash. Write this method if `verify` needs more than the hash.
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
  // A hash of this table for the dummy verification. Its result is ignored, so it does not matter whose hash it is.
  let dummyHash: unknown

  /** Verifies the password of an unknown user name with an object that has only a hash, because a model may change itself in `verify`. */
  async function verifyDummy(ctx: AuthContext, model: Class, password: string, database?: string) {
    if (dummyHash === undefined) {
      const { connectionType } = databasesOf(ctx)
      const options = { populate: [keys.passwordHash], connectionType } as never
      const hasHash = { [keys.passwordHash]: { $ne: null } }
      const user = await entityManager(ctx, database).fork().findOne<object>(model, hasHash, options)
      if (!user) return
      dummyHash = Reflect.get(user, keys.passwordHash)
    }
    const hash = { value: dummyHash, writable: true, enumerable: true, configurable: true }
    const dummy: PasswordModel = Object.create(model.prototype, { [keys.passwordHash]: hash })
    await dummy.verify(password)
  }

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
      const model = this as unknown as Class
      metadataOf(entityManager(ctx, database), model)
      // The hash may be a lazy column.
      const options = { model, property: keys.username, relation: keys.passwordHash }
      const found = await findOne(ctx, options, username, database)
      // The collation of the column may ignore case.
      if (found && Reflect.get(found, keys.username) === username) {
        const user = found as PasswordModel
        return requireBoolean(await user.verify(password), 'The result of `verify`') ? user : undefined
      }
      if (this.verifyNobody) await this.verifyNobody(password)
      else await verifyDummy(ctx, model, password, database)
      return undefined
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
