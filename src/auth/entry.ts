import { type Authentication, authenticationNow, type LoginOptions } from './authentication.ts'
import type { Class } from './class.ts'

/** An authenticator for contexts of the type `Context`. `RequestAuthenticator` documents the members. */
export interface AuthenticatorFor<Context> {
  readonly user: Class
  readonly signsIn: boolean
  readonly isForEveryPage: boolean
  readonly accepts?: string | undefined
  readonly methods?: readonly string[] | undefined
  attempt(ctx: Context): void | Promise<void>
  challenge(ctx: Context, maxAge?: number): string | undefined
  isSkipped(ctx: Context): boolean
  /** For sessions: when and how the user authenticated in an earlier request. */
  recorded?(ctx: Context): Authentication | undefined
}

/** A logged-in user. `by` is the authenticator that called `login`, and `undefined` if a handler did. The entry is empty after `logout`. */
export interface Entry<Context> {
  readonly user?: object
  readonly by?: AuthenticatorFor<Context> | undefined
  readonly authentication?: Authentication | undefined
}

export const loggedOut: Entry<never> = {}

export function entryOf<Context>(
  user: object,
  by: AuthenticatorFor<Context> | undefined,
  options: LoginOptions,
): Entry<Context> {
  return { user, by, authentication: authenticationNow(by, options.methods, options.at) }
}

/** When and how the user of an entry authenticated: in this request, or as the session recorded. */
export function authenticationOf<Context>(
  entry: Entry<Context> | undefined,
  ctx: Context,
): Authentication | undefined {
  return entry?.authentication ?? entry?.by?.recorded?.(ctx)
}
