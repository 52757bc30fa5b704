import { defineEntity, type EntityClass } from '@mikro-orm/core'
import { enabled, person } from './person.ts'

const AdminSchema = defineEntity({ name: 'Admin', tableName: 'admins', properties: person, filters: enabled })

/** An administrator of the site. An admin is not a user and has a separate password. */
export class Admin extends AdminSchema.class {}

AdminSchema.setClass(Admin)

/** The class of users or of admins. They have the same columns. */
export type AccountClass = EntityClass<Admin>
