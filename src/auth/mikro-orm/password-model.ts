import type { EntityManager } from '@mikro-orm/core'
import type { AuthContext, AuthMiddleware } from '../auth.ts'
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

/** What a model that authenticates by password has to have. */
export abstract class PasswordModel {
  /** Whether the password is the one whose hash is stored. */
  abstract verify(password: string): boolean | Promise<boolean>
}

/** The properties of such a model. */
export interface PasswordKeys<Entity> {
  /** What people log in by; compared case-sensitively. */
  readonly username: StringKey<Entity>
  /** Where the hash of the password is. */
  readonly passwordHash: StringKey<Entity>
}

/** What the class of such a model has. */
export interface PasswordModelClass<User = PasswordModel> extends SessionModelClass {
  /** The middleware for `Authorization: Basic`. */
  authenticator(options?: ModelOptions): AuthMiddleware
  /** The middleware for `username` and `password` in the body, or whatever `fields` calls them. */
  credentialsAuthenticator(options?: ModelOptions & CredentialsOptions): AuthMiddleware
  /** The one check behind both: the user if the credentials are right. A model may put its own around it. */
  findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<User | undefined>
  /**
   * What to do for an unknown user in the place of `verify`, so that the time taken tells nothing: one hash of the usual cost.
   * Without it, somebody else is found, and their password verified, in vain.
   */
  verifyNobody?(password: string): void | Promise<void>
}

type PasswordAuthenticatable = Class<PasswordModel> & PasswordModelClass

/**
 * A persisted model that authenticates by username and password hash (specification, "ModelAuthenticatable" and
 * "ModelCredentialsAuthenticatable"), and can be remembered in a session:
 * `class User extends ModelAuthenticatable(UserSchema.class, { username: 'email', passwordHash: 'passwordHash' })`.
 * Its JSON has no password hash. Make the column `hidden()` too, for MikroORM's other serialisations.
 */
export function ModelAuthenticatable<Entity extends Base>(
  base: Entity,
  keys: PasswordKeys<InstanceType<Entity>>,
) {
  // A generic base is known to be a class, but not to be one that can be extended.
  abstract class Model extends (ModelSessionAuthenticatable(base) as Base) {
    static verifyNobody?(password: string): void | Promise<void>

    static authenticator(options: ModelOptions = {}): AuthMiddleware {
      return new ModelBasicAuthenticator(checked(this), options).middleware()
    }

    static credentialsAuthenticator(options: ModelOptions & CredentialsOptions = {}): AuthMiddleware {
      return new ModelCredentialsAuthenticator(checked(this), options).middleware()
    }

    static async findByCredentials(
      { username, password }: PasswordCredentials,
      ctx: AuthContext,
      { database }: ModelOptions = {},
    ): Promise<PasswordModel | undefined> {
      const em = entityManager(ctx, database)
      // The contract has checked the name of the property; MikroORM's types cannot follow a computed one.
      const where = { [keys.username]: username } as object
      // Where the hash is lazy, it is read all the same.
      const populate = [keys.passwordHash] as never
      const found = await em.findOne<object>(checked(this), where, { populate })
      // A column may compare without regard to case.
      const isExactly = found && Reflect.get(found, keys.username) === username
      const user = isExactly ? (found as PasswordModel) : undefined
      if (!user)
        await (this.verifyNobody
          ? this.verifyNobody(password)
          : verifyInVain(em, checked(this), keys, password))
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

/** Verifies the password of whoever has one, if anybody has: that is what takes the time for a user who is known. */
async function verifyInVain(
  em: EntityManager,
  model: Class,
  { passwordHash }: { passwordHash: string },
  password: string,
): Promise<void> {
  const where = { [passwordHash]: { $ne: null } } as object
  const found = await em.fork().findOne<object>(model, where, { populate: [passwordHash] as never })
  await (found as PasswordModel | null)?.verify(password)
}

class ModelBasicAuthenticator extends BasicAuthenticator<PasswordModel> {
  readonly user: PasswordAuthenticatable
  readonly #options: ModelOptions

  constructor(user: PasswordAuthenticatable, options: ModelOptions) {
    super()
    this.user = user
    this.#options = options
  }

  override async authenticate(basic: PasswordCredentials, ctx: AuthContext): Promise<void> {
    const user = await this.user.findByCredentials(basic, ctx, this.#options)
    if (user) ctx.auth.login(user, this.user)
  }
}

class ModelCredentialsAuthenticator extends CredentialsAuthenticator<PasswordModel> {
  readonly user: PasswordAuthenticatable
  readonly #options: ModelOptions

  constructor(user: PasswordAuthenticatable, options: ModelOptions & CredentialsOptions) {
    super(options)
    this.user = user
    this.#options = options
  }

  override async authenticate(credentials: PasswordCredentials, ctx: AuthContext): Promise<void> {
    const user = await this.user.findByCredentials(credentials, ctx, this.#options)
    if (user) ctx.auth.login(user, this.user)
  }
}
