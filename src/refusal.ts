import problems from './problems.json' with { type: 'json' }

/** The stable code of a problem. `problems.json` has its status, title and explanation. */
export type ProblemCode = keyof typeof problems

/** The code for an error that has only a status: the first code with that status, or a general one. */
export function codeOf(status: number): ProblemCode {
  const codes = Object.keys(problems) as ProblemCode[]
  const code = codes.find((each) => problems[each].status === status)
  return code ?? (status < 500 ? 'bad_request' : 'internal_error')
}

/** An error that becomes a response: a code, a sentence for the caller, and headers. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
  readonly expose = true
  readonly code: ProblemCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param problem the code, or a status, which `codeOf` turns into a code
   * @param detail by default, the explanation of the code
   * @param status the status, if it is not the usual one of the code
   */
  constructor(
    problem: ProblemCode | number,
    detail?: string,
    headers: Readonly<Record<string, string>> = {},
    status?: number,
  ) {
    const code = typeof problem === 'number' ? codeOf(problem) : problem
    super(detail ?? problems[code].explanation)
    this.code = code
    this.status = status ?? problems[code].status
    this.headers = headers
  }
}

/** The invalid fields of a body. */
export class FieldRefusal extends Refusal {
  override readonly name = 'FieldRefusal'
  readonly errors: readonly FieldError[]

  constructor(code: ProblemCode, errors: readonly FieldError[]) {
    super(code, errors.map(({ detail }) => detail).join(' '))
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
  /** The rate limit that is used up, for the log. */
  readonly allowance: string | undefined

  constructor(status: 429 | 503, detail: string, seconds: number, allowance?: string) {
    super(status === 429 ? 'rate_limited' : 'busy', detail, { 'Retry-After': String(seconds) })
    this.allowance = allowance
  }
}
