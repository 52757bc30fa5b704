import type { EntityManager } from '@mikro-orm/core'
import type { AuthContext, AuthMiddleware } from '../auth.ts'
import type { Find } from '../authenticator.ts'
import { BasicAuthenticator } from '../basic.ts'
import type { Class } from '../class.ts'
import {
  CredentialsAuthenticator,
  type CredentialsOptions,
  type PasswordCredentials,
} from '../credentials.ts'
import { yesOrNo } from '../errors.ts'
import { entityManager } from './databases.ts'
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
  /** The user name; compared case-sensitively. */
  readonly username: StringKey<Entity>
  readonly passwordHash: StringKey<Entity>
}

/** The static side of a password model. */
export interface PasswordModelClass<User = PasswordModel> extends SessionModelClass {
  /** The middleware for `Authorization: Basic` (RFC 7617). */
  authenticator(options?: ModelOptions): AuthMiddleware
  /** The middleware for a user name and a password in the request body. `fields` renames the two fields. */
  credentialsAuthenticator(options?: ModelOptions & CredentialsOptions): AuthMiddleware
  /** The check that both middlewares call: the user, if the credentials are right. A model may wrap it. */
  findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<User | undefined>
  /**
   * Called for an unknown user name instead of `verify`: compute one dummy hash of the usual cost, so that the response time does not
   * tell whether an account exists. The default verifies the password against another user's hash.
   */
  verifyNobody?(password: string): void | Promise<void>
}

type PasswordAuthenticatable = Class<PasswordModel> & PasswordModelClass<PasswordModel>

/**
 * A mixin for an entity that authenticates by user name and password hash, and can be stored in a session:
 * `class User extends ModelAuthenticatable(UserSchema.class, { username: 'email', passwordHash: 'passwordHash' })`.
 * Its JSON has no password hash. Make the column `hidden()` too, for MikroORM's other serialisations.
 */
export function ModelAuthenticatable<Entity extends Base>(
  base: Entity,
  keys: PasswordKeys<InstanceType<Entity>>,
) {
  // TypeScript cannot extend a generic class.
  abstract class Model extends (ModelSessionAuthenticatable(base) as Base) {
    static verifyNobody?(password: string): void | Promise<void>

    static authenticator(options: ModelOptions = {}): AuthMiddleware {
      const model = checked(this)
      return BasicAuthenticator.from(model, (basic, ctx) => model.findByCredentials(basic, ctx, options))
    }

    static credentialsAuthenticator(options: ModelOptions & CredentialsOptions = {}): AuthMiddleware {
      const model = checked(this)
      const find: Find<PasswordModel, PasswordCredentials> = (form, ctx) =>
        model.findByCredentials(form, ctx, options)
      return CredentialsAuthenticator.from(model, find, options)
    }

    static async findByCredentials(
      { username, password }: PasswordCredentials,
      ctx: AuthContext,
      { database }: ModelOptions = {},
    ): Promise<PasswordModel | undefined> {
      const em = entityManager(ctx, database)
      const where = { [keys.username]: username }
      // The hash may be a lazy column.
      const populate = [keys.passwordHash] as never
      const found = await em.findOne<object>(checked(this), where, { populate })
      // The collation of the column may ignore case.
      const isExactly = found && Reflect.get(found, keys.username) === username
      const user = isExactly ? (found as PasswordModel) : undefined
      if (!user)
        await (this.verifyNobody
          ? this.verifyNobody(password)
          : verifyOther(em, checked(this), keys, password))
      return user && yesOrNo(await user.verify(password), 'What `verify` answers') ? user : undefined
    }
  }
  nameAfter(Model, base)
  hideInJSON(Model, keys.passwordHash)
  return Model as unknown as (abstract new () => InstanceType<Entity> & PasswordModel & SessionModel) &
    PasswordModelClass<InstanceType<Entity> & PasswordModel> &
    Omit<Entity, 'prototype'>
}

export { ModelAuthenticatable as ModelCredentialsAuthenticatable }

function checked(model: Base): PasswordAuthenticatable {
  requireMember(model, 'verify', 'the method that tells whether a password is right')
  return model as unknown as PasswordAuthenticatable
}

/** Verifies the password against the hash of any user, to spend the time that a known user would take. */
async function verifyOther(
  em: EntityManager,
  model: Class<PasswordModel>,
  { passwordHash }: { passwordHash: string },
  password: string,
): Promise<void> {
  const other = await em
    .fork()
    .findOne<object>(model, { [passwordHash]: { $ne: null } }, { populate: [passwordHash] as never })
  await (other as PasswordModel | null)?.verify(password)
}
