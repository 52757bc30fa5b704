import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials, isPasswordOf } from './check-credentials.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { enabled, person } from './person.ts'

const UserSchema = defineEntity({ name: 'User', tableName: 'users', properties: person, filters: enabled })

/** Checks the second factor of a request with the right password. Throws if the second factor is missing or wrong. */
export type SecondFactorCheck = (ctx: AuthContext, user: User) => Promise<void>

/** The context of an application with `app.context.secondFactorCheck = …`. */
export interface SecondFactorContext extends AuthContext {
  readonly secondFactorCheck: SecondFactorCheck
}

/** A user of the site. */
export class User extends ModelAuthenticatable(UserSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  /**
   * Finds the user of Basic credentials or of a sign-in form. Rate limits and the audit trail apply. Every sign-in by password
   * calls this method. It requires the second factor if the account has one.
   *
   * @throws {Error} the error of `secondFactorCheck`
   */
  static override async findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<User | undefined> {
    const user = await User.findByPassword(credentials, ctx, options)
    if (!user?.secondFactorAt) return user
    const { secondFactorCheck } = ctx as Partial<SecondFactorContext>
    if (!secondFactorCheck) throw new Error('Set the check: `app.context.secondFactorCheck = …`.')
    await secondFactorCheck(ctx, user)
    return user
  }

  /** Finds the user of credentials without a check of the second factor. Other files use it only for signed-in users. */
  static findByPassword(
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
