import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { checkCredentials } from './check-credentials.ts'
import { burnOneHash } from './password.ts'
import { enabled, person } from './person.ts'
import { isPasswordOf } from './stored-hash.ts'

const AdminSchema = defineEntity({ name: 'Admin', tableName: 'admins', properties: person, filters: enabled })

/** Somebody who runs the site; no user, and with a password of their own. */
export class Admin extends ModelAuthenticatable(AdminSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  static override findByCredentials(
    credentials: PasswordCredentials,
    ctx: AuthContext,
    options?: ModelOptions,
  ) {
    const find = () => super.findByCredentials(credentials, ctx, options)
    return checkCredentials('admin', credentials, { ctx, options, find })
  }

  static override verifyNobody(password: string): Promise<void> {
    return burnOneHash(password)
  }

  verify(password: string): Promise<boolean> {
    return isPasswordOf(this, password)
  }
}

AdminSchema.setClass(Admin)
