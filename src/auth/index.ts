export {
  type Auth,
  type AuthContext,
  type AuthMiddleware,
  auth,
  challengesOf,
  credentialsSent,
  ignoreSession,
  reportFailure,
} from './auth.ts'
export type { Authentication, Duration } from './authentication.ts'
export {
  type Find,
  RequestAuthenticator,
  RequestAuthenticator as AsyncRequestAuthenticator,
  type UserOrNothing,
} from './authenticator.ts'
export type { BasicAuthorization, BearerAuthorization } from './authorization.ts'
export { BasicAuthenticator, BasicAuthenticator as AsyncBasicAuthenticator } from './basic.ts'
export { BearerAuthenticator, BearerAuthenticator as AsyncBearerAuthenticator } from './bearer.ts'
export type { Class } from './checks.ts'
export {
  CredentialsAuthenticator,
  CredentialsAuthenticator as AsyncCredentialsAuthenticator,
  type PasswordCredentials,
} from './credentials.ts'
export { refuseCrossSite } from './cross-site.ts'
export { AuthError, Forbidden, Misuse, Unauthorized, Undecided } from './errors.ts'
export { type GuardOptions, guard } from './guard.ts'
export { nextPath, withNext } from './next-path.ts'
export { redirectUnless } from './redirect-unless.ts'
export {
  type SessionAuthenticatable,
  SessionAuthenticator,
  SessionAuthenticator as AsyncSessionAuthenticator,
} from './session.ts'
export type { Authenticator } from './state.ts'
