import { type OptionalProps, wrap } from '@mikro-orm/core'
import type { AuthContext, AuthMiddleware } from '../auth.ts'
import type { Class } from '../class.ts'
import { Misuse } from '../errors.ts'
import { type SessionAuthenticatable, SessionAuthenticator, type SessionOptions } from '../session.ts'
import { KeyLookUp } from './key-look-up.ts'
import { type Base, type ModelOptions, nameAfter } from './model.ts'

/** What a model that is restored from a session has: its primary key, as a string. */
export abstract class SessionModel implements SessionAuthenticatable {
  declare [OptionalProps]?: 'sessionID'
  declare readonly sessionID: string
}

/** What the class of such a model has. */
export interface SessionModelClass {
  /** The middleware that restores this model from the session, and remembers it there. */
  sessionAuthenticator(options?: ModelOptions & SessionOptions): AuthMiddleware
}

/**
 * A persisted model that a session remembers by its primary key (specification, "ModelSessionAuthenticatable"; it
 * requires nothing): `class User extends ModelSessionAuthenticatable(UserSchema.class) {}`.
 */
export function ModelSessionAuthenticatable<Entity extends Base>(base: Entity) {
  abstract class Model extends base {
    get sessionID(): string {
      const entity = wrap(this, true)
      const key: unknown = entity.__meta.compositePK ? undefined : entity.getPrimaryKey()
      if (typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint') return String(key)
      throw new Misuse(`${entity.__meta.className} needs one primary key that is a string or a number.`)
    }

    static sessionAuthenticator({
      database,
      ...options
    }: ModelOptions & SessionOptions = {}): AuthMiddleware {
      return new ModelSessionAuthenticator(
        this as unknown as Class<SessionModel>,
        database,
        options,
      ).middleware()
    }
  }
  nameAfter(Model, base)
  // What the class expression above is; spelt out, because a mixin's own type cannot be exported as it is inferred.
  return Model as unknown as (abstract new () => InstanceType<Entity> & SessionModel) &
    SessionModelClass &
    Omit<Entity, 'prototype'>
}

class ModelSessionAuthenticator extends SessionAuthenticator<SessionModel> {
  readonly user: Class<SessionModel>
  readonly #database: string | undefined
  readonly #users: KeyLookUp<SessionModel>

  constructor(user: Class<SessionModel>, database: string | undefined, options: SessionOptions) {
    super(options)
    this.user = user
    this.#database = database
    this.#users = new KeyLookUp(user)
  }

  override async authenticate(sessionID: string, ctx: AuthContext): Promise<void> {
    const user = await this.#users.find(ctx, sessionID, this.#database)
    if (user) ctx.auth.login(user, this.user)
  }
}
