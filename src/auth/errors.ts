import { validateHeaderValue } from 'node:http'

/** An error of the layer: a status for the client, a stable `code` for programs, a sentence for the person who can act. */
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

  /** @param challenges one for each authenticator; repeated and missing ones are left out */
  constructor(challenges: readonly (string | undefined)[] = []) {
    super('You need to sign in, or to send valid credentials.')
    const sent = [...new Set(challenges.filter((each) => each !== undefined))]
    // Koa sets the headers of an error where nothing catches the exception of an invalid one.
    for (const each of sent) validateHeaderValue('WWW-Authenticate', each)
    this.headers = sent.length > 0 ? { 'WWW-Authenticate': sent } : {}
  }
}

/** 403: the request is refused for every user, such as a form from another site or the older variant's bad token. */
export class Forbidden extends AuthError {
  override readonly name = 'Forbidden'
  readonly status = 403
  readonly code = 'ERR_AUTH_FORBIDDEN'
}

/** 503: an authenticator failed, because its database is down for example. Never treated as an anonymous request. */
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

/** 500: the application is set up wrongly. The message names the line to change; the client does not see it. */
export class Misuse extends AuthError {
  override readonly name = 'Misuse'
  readonly status = 500
  readonly code = 'ERR_AUTH_MISUSE'
  override readonly expose = false
}

/**
 * Returns the result of an application's synchronous function. Throws `Misuse` for a promise, and handles its rejection,
 * which would end the process otherwise.
 */
export function atOnce<Result>(result: Result, name: string): Result {
  if (!(result instanceof Promise)) return result
  result.catch(() => undefined)
  throw new Misuse(`${name} must return its result, not a promise of it.`)
}

/** Returns a boolean of an application. Throws `Misuse` for another value, because a promise or a method is always truthy. */
export function yesOrNo(result: unknown, name: string): boolean {
  if (typeof result === 'boolean') return result
  throw new Misuse(`${name} is \`true\` or \`false\`, and nothing else.`)
}

/**
 * Whether an error is a response, as `ctx.throw` makes it: a client or server error with `expose`. Errors of HTTP clients
 * have a status too, which is that of another server's response.
 */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && 'expose' in error)) return false
  const { status, expose } = error
  return typeof status === 'number' && status >= 400 && status < 600 && typeof expose === 'boolean'
}
