/** What the layer throws: a status for the client, a stable `code` for programs, a sentence for the person who can act. */
export abstract class AuthError extends Error {
  abstract readonly status: number
  abstract readonly code: string
  /** Koa shows `message` to the client only where this is true. */
  readonly expose: boolean = true
  /** Response headers that Koa and an error boundary send along. */
  readonly headers: Readonly<Record<string, string | string[]>> = {}
}

/**
 * 401: nobody of the type asked for is authenticated on this request (specification, "Errors"). Carries one
 * `WWW-Authenticate` challenge for each header authenticator that stood before it (RFC 9110 §11.6.1).
 */
export class Unauthorized extends AuthError {
  override readonly name = 'Unauthorized'
  readonly status = 401
  readonly code = 'ERR_AUTH_UNAUTHORIZED'
  override readonly headers: Readonly<Record<string, string[]>>

  constructor(challenges: readonly string[] = []) {
    super('You need to sign in, or to send valid credentials.')
    this.headers = challenges.length > 0 ? { 'WWW-Authenticate': [...challenges] } : {}
  }
}

/** 403: the caller is refused whoever they are: a form post from another site, or the older variant's bad token. */
export class Forbidden extends AuthError {
  override readonly name = 'Forbidden'
  readonly status = 403
  readonly code = 'ERR_AUTH_FORBIDDEN'
}

/** 503: an authenticator could not decide, because its database is gone, say. Never mistaken for "anonymous". */
export class Undecided extends AuthError {
  override readonly name = 'Undecided'
  readonly status = 503
  readonly code = 'ERR_AUTH_UNDECIDED'
  // Koa keeps silent about what it shows; of this the log has to hear.
  override readonly expose = false
  override readonly headers = { 'Retry-After': '5' }

  constructor(cause: unknown) {
    super('We cannot tell who you are at the moment. Please try again shortly.', { cause })
    // Koa logs the stack and nothing else of an error. What a database says may hold what somebody has sent.
    const isSlip = cause instanceof TypeError || cause instanceof ReferenceError
    if (cause instanceof Error) this.stack += `\n  because of ${isSlip ? cause.stack : cause.name}`
  }
}

/** 500: the application is put together wrongly. The message names the line to add; the client does not see it. */
export class Misuse extends AuthError {
  override readonly name = 'Misuse'
  readonly status = 500
  readonly code = 'ERR_AUTH_MISUSE'
  override readonly expose = false
}

/**
 * What a function of the application has answered, where there is no waiting for it. Throws `Misuse` for a promise, whose
 * rejection would end the process: nobody else would catch it.
 */
export function atOnce<Answer>(answer: Answer, who: string): Answer {
  if (!(answer instanceof Promise)) return answer
  answer.catch(() => undefined)
  throw new Misuse(`${who} has to answer at once, not with a promise.`)
}

/** A yes or no of the application. Throws `Misuse` for anything else: a promise, say, or a method, is truthy, whatever it means. */
export function yesOrNo(answer: unknown, who: string): boolean {
  if (typeof answer === 'boolean') return answer
  throw new Misuse(`${who} is \`true\` or \`false\`, and nothing else.`)
}

/**
 * Whether an error is an answer of its own, as `ctx.throw` makes them, and not a sign that something is broken: a client or
 * server error that says whether it may be shown. The status in an HTTP client's error is what somebody else answered.
 */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error && 'status' in error && 'expose' in error)) return false
  const { status, expose } = error
  return typeof status === 'number' && status >= 400 && status < 600 && typeof expose === 'boolean'
}
