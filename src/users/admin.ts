import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials, isPasswordOf } from './check-credentials.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { enabled, person } from './person.ts'

const AdminSchema = defineEntity({ name: 'Admin', tableName: 'admins', properties: person, filters: enabled })

/** An administrator of the site. An admin is not a user and has a separate password. */
export class Admin extends ModelAuthenticatable(AdminSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  /** Finds the admin of Basic credentials. Rate limits and the audit trail apply. */
  static override findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ): Promise<Admin | undefined> {
    return checkCredentials({ model: Admin, kind: 'admin' }, credentials, { ctx, options })
  }

  verify(password: string, options?: HashingOptions): Promise<boolean> {
    return isPasswordOf(this, password, options)
  }
}

AdminSchema.setClass(Admin)
