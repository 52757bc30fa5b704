import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials } from './check-credentials.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { enabled, person } from './person.ts'
import { isPasswordOf } from './stored-hash.ts'

const UserSchema = defineEntity({ name: 'User', tableName: 'users', properties: person, filters: enabled })

/** A user of the site. */
export class User extends ModelAuthenticatable(UserSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  /** Checks Basic credentials, the login form and the current password. Limited and recorded. */
  static override findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<User | undefined> {
    return checkCredentials({ model: User, kind: 'user' }, credentials, { ctx, options })
  }

  verify(password: string, options?: HashingOptions): Promise<boolean> {
    return isPasswordOf(this, password, options)
  }
}

UserSchema.setClass(User)
