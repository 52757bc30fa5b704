// An import would load `fetch` too, which slows the start and takes memory.
const { validateHeaderValue } = process.getBuiltinModule('node:http')

/** An error of the package, with a status for the client and a stable `code` for programs. */
export abstract class AuthError extends Error {
  abstract readonly status: number
  abstract readonly code: string
  /** Whether Koa shows `message` to the client. */
  readonly expose: boolean = true
  /** The headers that Koa adds to the response. */
  readonly headers: Readonly<Record<string, string | string[]>> = {}
}

// No message reveals whether an account exists.
const unauthorized = {
  ERR_AUTH_REQUIRED: 'Authentication required.',
  ERR_AUTH_WRONG_CREDENTIALS: 'The username or password is wrong.',
  ERR_AUTH_INVALID_TOKEN: 'The token is invalid or expired.',
  ERR_AUTH_MALFORMED_HEADER: 'The `Authorization` header is malformed.',
  ERR_AUTH_BEARER_NOT_ACCEPTED: 'This route does not accept bearer tokens.',
  ERR_AUTH_SCHEME_NOT_ACCEPTED: 'This route does not accept this authorization scheme.',
  ERR_AUTH_CONFIRMATION_REQUIRED: 'Confirm that it is you: authenticate again, then repeat the request.',
}

/** The codes of a 401. */
export type UnauthorizedCode = keyof typeof unauthorized

/** 401: no user of the required class is authenticated, or not recently enough. Carries the challenges (RFC 9110 §11.6.1). */
export class Unauthorized extends AuthError {
  override readonly name = 'Unauthorized'
  readonly status = 401
  readonly code: UnauthorizedCode
  override readonly headers: Readonly<Record<string, string[]>>

  /** @param challenges one for each authenticator; duplicates and `undefined` are left out */
  constructor(
    challenges: readonly (string | undefined)[] = [],
    code: UnauthorizedCode = 'ERR_AUTH_REQUIRED',
    message: string = unauthorized[code],
  ) {
    super(message)
    this.code = code
    const sent = [...new Set(challenges.filter((each) => each !== undefined))]
    // Validates the headers here, because Koa sets them outside of any `catch`.
    for (const each of sent) validateHeaderValue('WWW-Authenticate', each)
    this.headers = sent.length > 0 ? { 'WWW-Authenticate': sent } : {}
  }
}

/** 403: the request is not allowed. `ERR_AUTH_CROSS_SITE` means that it came from another origin. */
export class Forbidden extends AuthError {
  override readonly name = 'Forbidden'
  readonly status = 403
  readonly code: 'ERR_AUTH_FORBIDDEN' | 'ERR_AUTH_CROSS_SITE'

  constructor(message: string, code: Forbidden['code'] = 'ERR_AUTH_FORBIDDEN') {
    super(message)
    this.code = code
  }
}

/** 503: an authenticator failed, for example because its database is down. The request is not treated as anonymous. */
export class Undecided extends AuthError {
  override readonly name = 'Undecided'
  readonly status = 503
  readonly code = 'ERR_AUTH_UNDECIDED'
  // Koa does not log an error with `expose: true`.
  override readonly expose = false
  override readonly headers = { 'Retry-After': '5' }

  constructor(cause: unknown) {
    super('We cannot tell who you are at the moment. Please try again shortly.', { cause })
    // Koa logs only the stack.
    if (cause instanceof Error) this.stack += `\n  because of ${describeError(cause)}`
  }
}

/** A provider of tokens or identities failed. The message contains no secret, so it is logged in production too. */
export class ProviderError extends Error {
  override readonly name: string = 'ProviderError'
}

/** The stack of a mistake in code. Else the message in development, and in production only the name and the code of the error and its causes. */
export function describeError(cause: Error): string {
  if (cause instanceof ReferenceError) return cause.stack ?? cause.message
  // `fetch failed` is a TypeError too, and its cause has the reason.
  if (cause instanceof TypeError && !(cause.cause instanceof Error)) return cause.stack ?? cause.message
  // The message of a database error may contain the credentials.
  const isSafe = cause instanceof ProviderError || cause instanceof AuthError
  return isProduction() && !isSafe ? namesOf(cause) : `${cause.name}: ${cause.message}`
}

function namesOf({ name, cause, ...error }: Error, levels = 5): string {
  const code = 'code' in error && /^\w{1,60}$/.test(String(error.code)) ? ` ${error.code}` : ''
  return `${name}${code}${cause instanceof Error && levels > 0 ? ` because of ${namesOf(cause, levels - 1)}` : ''}`
}

export function isProduction(): boolean {
  return process.env.NODE_ENV === 'production'
}

/** 500: the application is set up wrongly. The message names the mistake. It is logged, but not sent to the client. */
export class Misuse extends AuthError {
  override readonly name = 'Misuse'
  readonly status = 500
  readonly code = 'ERR_AUTH_MISUSE'
  override readonly expose = false
}

/** Whether an error describes the response, as from `ctx.throw`. Errors of HTTP clients have a `status`, but no `expose`. */
export function isHTTPError(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && 'expose' in error)) return false
  const { status, expose } = error
  return typeof status === 'number' && status >= 400 && status < 600 && typeof expose === 'boolean'
}
