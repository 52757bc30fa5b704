import { STATUS_CODES } from 'node:http'
import { ConstraintViolationException, DriverException } from '@mikro-orm/core'
import { AuthError } from '#auth'
import type { RegistrationError } from '../users/registration.ts'

/** What went wrong, for the client (RFC 9457): never a stack, a statement or a path. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  /** The reason, for people. */
  readonly detail: string
  /** Every field that failed. */
  readonly errors?: readonly RegistrationError[]
}

/** Something a handler refuses. The detail is a sentence for whoever sent the request. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly expose = true
  readonly status: number
  readonly errors: readonly RegistrationError[] | undefined

  constructor(status: number, detail: string, errors?: readonly RegistrationError[]) {
    super(detail)
    this.status = status
    this.errors = errors
  }
}

const details: Record<number, string> = {
  400: 'We could not read this request.',
  404: 'There is no such page.',
  405: 'This address does not take that method.',
  413: 'This is more than we take: at most 16 KB.',
  415: 'Send JSON or a form.',
  500: 'Something broke on our side. It has been written down.',
  503: 'Our database does not answer. Please try again shortly.',
}

/** The problem of a status, with the usual sentence for it unless there is a better one. */
export function problem(
  status: number,
  detail = details[status] ?? '',
  errors?: readonly RegistrationError[],
): Problem {
  const title = STATUS_CODES[status] ?? 'Error'
  return { type: 'about:blank', title, status, detail, ...(errors && { errors }) }
}

/** What the client is told of an error. What it may not see becomes a 500, and a broken database a 503. */
export function problemOf(error: unknown): Problem {
  const status = statusOf(error)
  const isForClient = status < 500 || (error instanceof Error && 'expose' in error && error.expose === true)
  if (error instanceof Refusal) return problem(status, error.message, error.errors)
  return problem(status, isForClient && isOurs(error) ? error.message : undefined)
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
function isOurs(error: unknown): error is AuthError {
  return error instanceof AuthError
}
