import { STATUS_CODES } from 'node:http'
import { ConstraintViolationException, DriverException } from '@mikro-orm/core'
import { AuthError } from '#auth'
import { type FieldError, FieldRefusal, Refusal } from '../refusal.ts'

/** The problem details of an error (RFC 9457). They never contain a stack, a statement or a file path. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** The fields with problems. */
  readonly errors?: readonly FieldError[]
}

const details: Record<number, string> = {
  400: 'The request is malformed.',
  404: 'There is no such page.',
  405: 'This address does not allow that method.',
  409: 'Another request changed this at the same time. Please try again.',
  408: 'This request took too long to arrive.',
  413: 'The request must not exceed 16 KB.',
  415: 'Send JSON or a form.',
  431: 'The header of this request is too large.',
  500: 'An internal error occurred. It has been logged.',
  503: 'Our database does not answer. Please try again shortly.',
}

/** The problem of a status. The detail defaults to a sentence for the status. */
export function problem(
  status: number,
  detail = details[status] ?? '',
  errors?: readonly FieldError[],
): Problem {
  const title = STATUS_CODES[status] ?? 'Error'
  return { type: 'about:blank', title, status, detail, ...(errors && { errors }) }
}

/** The problem of an error: 409 or 503 for an error of the database, 500 for an unknown error. */
export function problemOf(error: unknown): Problem {
  const status = statusOf(error)
  if (error instanceof FieldRefusal) return problem(status, error.message, error.errors)
  return problem(status, isOurs(error) && error.expose ? error.message : undefined)
}

/** The headers of an error, such as `WWW-Authenticate` and `Retry-After`. */
export function headersOf(error: unknown): Record<string, string | string[]> {
  if (isOurs(error)) return { ...error.headers }
  return statusOf(error) === 503 ? { 'Retry-After': '5' } : {}
}

function statusOf(error: unknown): number {
  if (error instanceof DriverException) return error instanceof ConstraintViolationException ? 409 : 503
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500
}

// Messages of other packages are for programmers.
function isOurs(error: unknown): error is AuthError | Refusal {
  return error instanceof AuthError || error instanceof Refusal
}
