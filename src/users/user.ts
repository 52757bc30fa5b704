import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { credentialCheck } from './credential-check.ts'
import { burnOneHash, verifyPassword } from './password.ts'
import { enabled, person } from './person.ts'

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
    const who = { kind: 'user', username: credentials.username } as const
    return credentialCheck(ctx)(who, () => super.findByCredentials(credentials, ctx, options))
  }

  static override verifyNobody(password: string): Promise<void> {
    return burnOneHash(password)
  }

  verify(password: string): Promise<boolean> {
    return verifyPassword(password, this.passwordHash)
  }
}

UserSchema.setClass(User)
