import { STATUS_CODES } from 'node:http'
import { ConstraintViolationException, DriverException } from '@mikro-orm/core'
import { AuthError } from '#auth'
import { type FieldError, FieldRefusal, Refusal } from '../refusal.ts'

/** What went wrong, for the client (RFC 9457): never a stack, a statement or a path. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  /** The reason, for people. */
  readonly detail: string
  /** Every field that failed. */
  readonly errors?: readonly FieldError[]
}

const details: Record<number, string> = {
  400: 'We could not read this request.',
  404: 'There is no such page.',
  405: 'This address does not take that method.',
  409: 'Somebody else changed this at the same time. Please try again.',
  408: 'This request took too long to arrive.',
  413: 'This is more than we take: at most 16 KB.',
  415: 'Send JSON or a form.',
  431: 'The header of this request is too large.',
  500: 'Something broke on our side. It has been written down.',
  503: 'Our database does not answer. Please try again shortly.',
}

/** The problem of a status, with the usual sentence for it unless there is a better one. */
export function problem(
  status: number,
  detail = details[status] ?? '',
  errors?: readonly FieldError[],
): Problem {
  const title = STATUS_CODES[status] ?? 'Error'
  return { type: 'about:blank', title, status, detail, ...(errors && { errors }) }
}

/** What the client is told of an error. What it may not see becomes a 500, and a broken database a 503. */
export function problemOf(error: unknown): Problem {
  const status = statusOf(error)
  if (error instanceof FieldRefusal) return problem(status, error.message, error.errors)
  return problem(status, isOurs(error) && error.expose ? error.message : undefined)
}

/** The headers that an error asks for, such as `WWW-Authenticate` and `Retry-After`. */
export function headersOf(error: unknown): Record<string, string | string[]> {
  if (isOurs(error)) return { ...error.headers }
  return statusOf(error) === 503 ? { 'Retry-After': '5' } : {}
}

function statusOf(error: unknown): number {
  if (error instanceof DriverException) return error instanceof ConstraintViolationException ? 409 : 503
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500
}

// Sentences of other packages are for programmers.
function isOurs(error: unknown): error is AuthError | Refusal {
  return error instanceof AuthError || error instanceof Refusal
}
