import type { RequestAuthenticator } from './authenticator.ts'
import type { Class } from './class.ts'

/**
 * Who is authenticated on a request, and by whom; nobody vouches for whom a handler has logged in. With each stands the one before:
 * they are few, and this is sooner made than a map or a list.
 */
export interface LoggedIn {
  readonly type: Class
  readonly user: object
  readonly by: RequestAuthenticator | undefined
  readonly before: LoggedIn | undefined
}

/** The one of that class. */
export function find(users: LoggedIn | undefined, type: Class): LoggedIn | undefined {
  let each = users
  while (each && each.type !== type) each = each.before
  return each
}

/** The same but for those that are left out. */
export function without(
  users: LoggedIn | undefined,
  isLeftOut: (user: LoggedIn) => boolean,
): LoggedIn | undefined {
  if (!users) return undefined
  const before = without(users.before, isLeftOut)
  return isLeftOut(users) ? before : { ...users, before }
}
