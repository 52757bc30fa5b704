import { defineEntity } from '@mikro-orm/core'
import type { AuthContext, PasswordCredentials } from '#auth'
import { ModelAuthenticatable, type ModelOptions } from '#auth/mikro-orm'
import { credentialCheck } from './credential-check.ts'
import { burnOneHash, verifyPassword } from './password.ts'
import { enabled, person } from './person.ts'

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
    const who = { kind: 'admin', username: credentials.username } as const
    return credentialCheck(ctx)(who, () => super.findByCredentials(credentials, ctx, options))
  }

  static override verifyNobody(password: string): Promise<void> {
    return burnOneHash(password)
  }

  verify(password: string): Promise<boolean> {
    return verifyPassword(password, this.passwordHash)
  }
}

AdminSchema.setClass(Admin)
