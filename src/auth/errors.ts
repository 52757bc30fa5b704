import { validateHeaderValue } from 'node:http'

/** An error of the package, with a status for the client and a stable `code` for programs. */
export abstract class AuthError extends Error {
  abstract readonly status: number
  abstract readonly code: string
  /** Whether Koa shows `message` to the client. */
  readonly expose: boolean = true
  /** Response headers, which Koa and an error boundary send. */
  readonly headers: Readonly<Record<string, string | string[]>> = {}
}

/** 401: no user of the required class is authenticated. Carries the `WWW-Authenticate` challenges (RFC 9110 §11.6.1). */
export class Unauthorized extends AuthError {
  override readonly name = 'Unauthorized'
  readonly status = 401
  readonly code = 'ERR_AUTH_UNAUTHORIZED'
  override readonly headers: Readonly<Record<string, string[]>>

  /** @param challenges one for each authenticator; duplicates and `undefined` are left out */
  constructor(challenges: readonly (string | undefined)[] = []) {
    super('You need to sign in, or to send valid credentials.')
    const sent = [...new Set(challenges.filter((each) => each !== undefined))]
    // Koa would set an invalid header outside of any `catch`.
    for (const each of sent) validateHeaderValue('WWW-Authenticate', each)
    this.headers = sent.length > 0 ? { 'WWW-Authenticate': sent } : {}
  }
}

/** 403: the request is rejected for every user, such as a form from another site. */
export class Forbidden extends AuthError {
  override readonly name = 'Forbidden'
  readonly status = 403
  readonly code = 'ERR_AUTH_FORBIDDEN'
}

/** 503: an authenticator failed, for example because its database is down. The request is not treated as anonymous. */
export class Undecided extends AuthError {
  override readonly name = 'Undecided'
  readonly status = 503
  readonly code = 'ERR_AUTH_UNDECIDED'
  // Koa does not log an error that it shows.
  override readonly expose = false
  override readonly headers = { 'Retry-After': '5' }

  constructor(cause: unknown) {
    super('We cannot tell who you are at the moment. Please try again shortly.', { cause })
    // Koa logs only the stack. The message of a database error may hold the credentials, so it is left out.
    const isBug = cause instanceof TypeError || cause instanceof ReferenceError
    if (cause instanceof Error) this.stack += `\n  because of ${isBug ? cause.stack : cause.name}`
  }
}

/** 500: the application is set up wrongly. The message names the line to change. The client does not see it. */
export class Misuse extends AuthError {
  override readonly name = 'Misuse'
  readonly status = 500
  readonly code = 'ERR_AUTH_MISUSE'
  override readonly expose = false
}

/** Returns the result of a synchronous function of the application. Throws `Misuse` for a promise. */
export function requireSync<Result>(result: Result, name: string): Result {
  if (!(result instanceof Promise)) return result
  // An unhandled rejection would end the process.
  result.catch(() => undefined)
  throw new Misuse(`${name} must return its result, not a promise of it.`)
}

/** Returns a boolean of the application. Throws `Misuse` for other values, because a promise is always truthy. */
export function requireBoolean(result: unknown, name: string): boolean {
  if (typeof result === 'boolean') return result
  throw new Misuse(`${name} must be \`true\` or \`false\`.`)
}

/** Whether an error sets the response, as `ctx.throw` does. Errors of HTTP clients have a `status`, but no `expose`. */
export function isHTTPError(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && 'expose' in error)) return false
  const { status, expose } = error
  return typeof status === 'number' && status >= 400 && status < 600 && typeof expose === 'boolean'
}
