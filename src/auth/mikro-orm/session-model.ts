import { type OptionalProps, wrap } from '@mikro-orm/core'
import type { AuthMiddleware } from '../auth.ts'
import { type Class, requireCall } from '../checks.ts'
import { Misuse } from '../errors.ts'
import { type SessionAuthenticatable, SessionAuthenticator, type SessionOptions } from '../session.ts'
import { KeyLookUp } from './key-look-up.ts'
import { type Base, type ModelOptions, nameAfter } from './model.ts'

/** The contract of a model that a session can hold: `sessionID` is the primary key as a string. */
export abstract class SessionModel implements SessionAuthenticatable {
  declare [OptionalProps]?: 'sessionID'
  declare readonly sessionID: string
}

/** The static side of a session model. */
export interface SessionModelClass {
  /** The middleware that restores the user from the session and stores a new sign-in there. */
  sessionAuthenticator(options?: ModelOptions & SessionOptions, next?: never): AuthMiddleware
}

/** A mixin for an entity that a session can hold: `class User extends ModelSessionAuthenticatable(UserSchema.class) {}`. */
export function ModelSessionAuthenticatable<Entity extends Base>(base: Entity) {
  abstract class Model extends base {
    get sessionID(): string {
      const entity = wrap(this, true)
      const key: unknown = entity.__meta.compositePK ? undefined : entity.getPrimaryKey()
      if (typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint') return String(key)
      throw new Misuse(`${entity.__meta.className} needs one primary key that is a string or a number.`)
    }

    static sessionAuthenticator(all: ModelOptions & SessionOptions = {}): AuthMiddleware {
      const { database, ...options } = all
      requireCall(this, 'User.sessionAuthenticator')
      const model = this as unknown as Class<SessionModel>
      const users = new KeyLookUp(model)
      return SessionAuthenticator.from(model, (id, ctx) => users.find(ctx, id, database), options)
    }
  }
  nameAfter(Model, base)
  // TypeScript cannot export the inferred type of a mixin.
  return Model as unknown as (abstract new () => InstanceType<Entity> & SessionModel) &
    SessionModelClass &
    Omit<Entity, 'prototype'>
}
