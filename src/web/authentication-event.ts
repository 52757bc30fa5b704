import type { Context } from 'koa'
import type { Auth } from '#auth'
import { User } from '../users/user.ts'

/** What happened on a request that concerns who somebody is. */
export type AuthenticationEvent =
  | 'signed up'
  | 'signed in'
  | 'signed out'
  | 'token issued'
  | 'credentials refused'

/** The event of a request that has been answered, told from the store that it leaves behind. */
export function authenticationEvent({
  auth,
  path,
  status,
}: Context & { auth?: Auth }): AuthenticationEvent | undefined {
  if (!auth) return undefined
  if (status === 401) return auth.credentialsSent ? 'credentials refused' : undefined
  if (status >= 400) return undefined
  if (auth.isLoggedOut(User)) return 'signed out'
  if (!auth.peek(User)) return undefined
  const by = auth.by(User)
  if (!by) return 'signed up'
  if (by.signsIn) return 'signed in'
  return path === '/login' ? 'token issued' : undefined
}
