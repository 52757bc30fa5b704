import {
  defineEntity,
  type EntityClass,
  type EntityManager,
  LockMode,
  type OptionalProps,
} from '@mikro-orm/core'
import type { SqlEntityManager } from '@mikro-orm/sqlite'
import type { AccountClass } from './admin.ts'
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

/** The record of a user (docs/http-api.md, "Records"). */
export function userRecord({ id, name, email }: User) {
  return { id, name, email }
}

/** Whether the owner of an account has proved its e-mail address. */
export function isVerified({ emailVerifiedAt }: { emailVerifiedAt?: Date | null | undefined }): boolean {
  return emailVerifiedAt != null
}

/** The unique key of an address. Addresses that differ only in case have the same key. */
export function emailKey(email: string): string {
  return email.toLowerCase()
}

/** An account, and the version of its credentials that a request has seen. */
export interface SeenAccount {
  readonly id: string
  readonly credentialsVersion?: number | undefined
}

/**
 * Locks an account row until the transaction ends, and returns whether it exists. Lock it before other rows, to avoid deadlocks.
 * @param account with `credentialsVersion`, the result is also `false` if the credentials have changed or the account is disabled
 */
export async function lockAccount(
  em: EntityManager,
  { id, credentialsVersion }: SeenAccount,
  entity: AccountClass = User,
): Promise<boolean> {
  const isSeen = credentialsVersion !== undefined
  const found = await em.findOne(entity, isSeen ? { id, credentialsVersion } : { id }, {
    fields: ['id'],
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
    ...(!isSeen && { filters: false }),
  })
  return found !== null
}

/**
 * Keeps the row with the digest `current` and the most recently used others of a user, `limit` in total. Deletes at most `limit` rows,
 * in one statement.
 *
 * @param entity an entity whose table has the columns `user_id`, `digest` and `seen_at`
 */
export async function deleteBeyond(
  em: EntityManager,
  entity: EntityClass<object>,
  { user, current, limit }: { user: string; current: string; limit: number },
): Promise<void> {
  const { tableName: table } = em.getMetadata().get(entity)
  // Both drivers of the site are SQL drivers.
  await (em as SqlEntityManager).execute(
    `delete from ${table} where user_id = ? and digest in (
       select digest from ${table} where user_id = ? and digest <> ?
       order by seen_at desc, digest limit ? offset ?)`,
    [user, user, current, limit, limit - 1],
    'run',
  )
}
