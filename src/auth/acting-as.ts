import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { authenticationNow, type LoginOptions } from './authentication.ts'
import { classOf, requireInstance } from './checks.ts'
import { type GivenUsers, givenUsers } from './state.ts'

/**
 * For tests: the request listener of an application in which `auth()` begins with a user, or with several users of different
 * classes. No session stores them. They are fresh only with `methods` or `at`.
 */
export function actingAs(
  app: { callback(): RequestListener } | RequestListener,
  user: object | readonly object[],
  options: LoginOptions = {},
): RequestListener {
  const users = [user].flat()
  for (const each of users) requireInstance(each, classOf(each))
  const listener = typeof app === 'function' ? app : app.callback()
  return (req: IncomingMessage & GivenUsers, res: ServerResponse) => {
    const { methods, at } = options
    const isFresh = methods !== undefined || at !== undefined
    const authentication = isFresh ? authenticationNow(undefined, methods, at) : undefined
    req[givenUsers] = users.map((user) => [classOf(user), { user, authentication, isGiven: true }])
    listener(req, res)
  }
}
