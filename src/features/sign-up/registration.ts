import type { FieldError } from '../../refusal.ts'
import { emailKey, emailProblem } from '../../users/email.ts'
import { passwordProblem } from '../../users/password-problem.ts'
import { nameProblem } from '../../users/person-name.ts'

/** What somebody who signs up has told about themselves (specification, "User.Create"), proven and bounded. */
export interface Registration {
  readonly name: string
  readonly email: string
  readonly emailKey: string
  readonly password: string
}

type Field = keyof Omit<Registration, 'emailKey'> | 'confirmPassword'

/** Parses the body of `POST /users`. Reads four fields of it and no other, never throws, and tells every failing field. */
export function parseRegistration(body: unknown): { registration: Registration } | { errors: FieldError[] } {
  const name = ownText(body, 'name').trim()
  const email = ownText(body, 'email')
  const password = ownText(body, 'password')
  const confirmed = ownText(body, 'confirmPassword') === password

  const errors = failing({
    name: nameProblem(name),
    email: emailProblem(email),
    password: passwordProblem(password, { name, email }),
    confirmPassword: confirmed ? undefined : 'The passwords did not match.',
  })
  return errors.length > 0
    ? { errors }
    : { registration: { name, email, emailKey: emailKey(email), password } }
}

function failing(problems: Record<Field, string | undefined>): FieldError[] {
  const fields = ['name', 'email', 'password', 'confirmPassword'] as const
  return fields.flatMap((field) => {
    const detail = problems[field]
    return detail === undefined ? [] : [{ field, detail }]
  })
}

/** A field that is a string; anything else counts as left empty. */
function ownText(body: unknown, field: Field): string {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, field)) return ''
  const value: unknown = Reflect.get(body, field)
  return typeof value === 'string' ? value : ''
}
