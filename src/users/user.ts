import { defineEntity, type OptionalProps } from '@mikro-orm/core'
import { enabled, person } from './person.ts'

const UserSchema = defineEntity({ name: 'User', tableName: 'users', properties: person, filters: enabled })

/** A user of the site. */
export class User extends UserSchema.class {
  declare [OptionalProps]?: 'sessionID'

  /** What a session stores of its user. */
  get sessionID(): string {
    return this.id
  }
}

UserSchema.setClass(User)
