export {
  type Auth,
  type AuthContext,
  type Authenticator,
  type AuthMiddleware,
  auth,
  challengesOf,
  credentialsSent,
  ignoreSession,
  reportFailure,
} from './auth.ts'
export type { Authentication, Duration } from './authentication.ts'
export {
  AsyncRequestAuthenticator,
  type Find,
  RequestAuthenticator,
  type UserOrNothing,
} from './authenticator.ts'
export type { BasicAuthorization, BearerAuthorization } from './authorization.ts'
export { AsyncBasicAuthenticator, BasicAuthenticator } from './basic.ts'
export { AsyncBearerAuthenticator, BearerAuthenticator } from './bearer.ts'
export type { Class } from './checks.ts'
export {
  AsyncCredentialsAuthenticator,
  CredentialsAuthenticator,
  type PasswordCredentials,
} from './credentials.ts'
export { refuseCrossSite } from './cross-site.ts'
export { AuthError, Forbidden, Misuse, Unauthorized, Undecided } from './errors.ts'
export { type GuardOptions, guard } from './guard.ts'
export { nextPath, withNext } from './next-path.ts'
export { redirectUnless } from './redirect-unless.ts'
export {
  AsyncSessionAuthenticator,
  type SessionAuthenticatable,
  SessionAuthenticator,
} from './session.ts'
