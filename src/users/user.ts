import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials } from './check-credentials.ts'
import { burnOneHash } from './password.ts'
import { enabled, person } from './person.ts'
import { isPasswordOf } from './stored-hash.ts'

const UserSchema = defineEntity({ name: 'User', tableName: 'users', properties: person, filters: enabled })

/** Somebody with an account on the site. */
export class User extends ModelAuthenticatable(UserSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  static override findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ) {
    const find = () => super.findByCredentials(credentials, ctx, options)
    return checkCredentials('user', credentials, { ctx, options, find })
  }

  static override verifyNobody(password: string): Promise<void> {
    return burnOneHash(password)
  }

  verify(password: string): Promise<boolean> {
    return isPasswordOf(this, password)
  }
}

UserSchema.setClass(User)
