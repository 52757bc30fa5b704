import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials } from './check-credentials.ts'
import type { HashingOptions } from './hashing-slots.ts'
import { enabled, person } from './person.ts'
import { isPasswordOf } from './stored-hash.ts'

const AdminSchema = defineEntity({ name: 'Admin', tableName: 'admins', properties: person, filters: enabled })

/** An administrator of the site. Admins are no users and have passwords of their own. */
export class Admin extends ModelAuthenticatable(AdminSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  /** The one check behind Basic, the form and the current password. It is limited and recorded. */
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
