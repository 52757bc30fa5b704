/** A client error with a message for the caller: a status, a sentence and headers. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
  readonly expose = true
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail)
    this.status = status
    this.headers = headers
  }
}

/** All invalid fields of a body. */
export class FieldRefusal extends Refusal {
  override readonly name = 'FieldRefusal'
  readonly errors: readonly FieldError[]

  constructor(status: number, errors: readonly FieldError[]) {
    super(status, errors.map(({ detail }) => detail).join(' '))
    this.errors = errors
  }
}

/** The problem of one field, as a sentence for the user. */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

/** 429 or 503 with `Retry-After` (RFC 9110 §10.2.3). */
export class TryLater extends Refusal {
  override readonly name = 'TryLater'
  readonly seconds: number

  constructor(status: 429 | 503, detail: string, seconds: number) {
    super(status, detail, { 'Retry-After': String(seconds) })
    this.seconds = seconds
  }
}
