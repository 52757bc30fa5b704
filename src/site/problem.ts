import { ConstraintViolationException, DriverException } from '@mikro-orm/core'
import { AuthError, Undecided } from '#auth'
import problems from '../problems.json' with { type: 'json' }
import { codeOf, type FieldError, FieldRefusal, type ProblemCode, Refusal } from '../refusal.ts'

/** The problem details of an error (RFC 9457). They never contain a stack, a statement or a file path. */
export interface Problem {
  /** The path of the page that explains the problem. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  /** The fields with problems. */
  readonly errors?: readonly FieldError[]
}

const codes: Readonly<Record<string, ProblemCode>> = {
  ERR_AUTH_REQUIRED: 'session_required',
  ERR_AUTH_WRONG_CREDENTIALS: 'wrong_credentials',
  ERR_AUTH_INVALID_TOKEN: 'token_invalid',
  ERR_AUTH_MALFORMED_HEADER: 'authorization_malformed',
  ERR_AUTH_BEARER_NOT_ACCEPTED: 'bearer_not_accepted',
  ERR_AUTH_SCHEME_NOT_ACCEPTED: 'scheme_not_accepted',
  ERR_AUTH_CONFIRMATION_REQUIRED: 'confirmation_required',
  ERR_AUTH_CROSS_SITE: 'cross_site',
}

/** The problem of a code. `detail` defaults to the explanation in problems.json. */
export function problem(
  code: ProblemCode,
  detail: string = problems[code].explanation,
  errors?: readonly FieldError[],
): Problem {
  const { title, status } = problems[code]
  return { type: `/problems/${code}`, title, status, detail, code, ...(errors && { errors }) }
}

/** The problem of an error. `reference` identifies the request in the log. */
export function problemOf(error: unknown, reference: unknown): Problem {
  const code = codeOfError(error)
  if (error instanceof FieldRefusal) return problem(code, error.message, error.errors)
  if (code === 'internal_error')
    return problem(code, `Something went wrong. We've logged it (reference ${reference}).`)
  const found = problem(code, isOurs(error) && error.expose ? error.message : undefined)
  return error instanceof Refusal ? { ...found, status: error.status } : found
}

/** The headers of an error, such as `WWW-Authenticate` and `Retry-After`. */
export function headersOf(error: unknown): Record<string, string | string[]> {
  if (isOurs(error)) return { ...error.headers }
  return codeOfError(error) === 'unavailable' ? { 'Retry-After': '5' } : {}
}

/** The error of the database that made a request or its authenticator fail, if there is one. */
export function databaseErrorOf(error: unknown): DriverException | undefined {
  const cause = error instanceof Undecided ? error.cause : error
  return cause instanceof DriverException && codeOfError(cause) === 'unavailable' ? cause : undefined
}

function codeOfError(error: unknown): ProblemCode {
  if (error instanceof Refusal) return error.code
  if (error instanceof AuthError) return codes[error.code] ?? codeOf(error.status)
  if (error instanceof ConstraintViolationException) return 'conflict'
  if (error instanceof DriverException) return isInvalidInput(error) ? 'bad_request' : 'unavailable'
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 600 ? codeOf(status) : 'internal_error'
}

/** Whether PostgreSQL rejects a value of the request, for example an id that is no UUID (class 22 of SQLSTATE). */
function isInvalidInput({ code }: DriverException): boolean {
  return /^22\w{3}$/.test(String(code))
}

// Messages of other packages are for programmers, not for clients.
function isOurs(error: unknown): error is AuthError | Refusal {
  return error instanceof AuthError || error instanceof Refusal
}
