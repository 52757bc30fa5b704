import { emailKey, emailProblem } from './email.ts'
import { passwordProblem } from './password-problem.ts'
import { nameProblem } from './person-name.ts'

/** What somebody who signs up has told about themselves (specification, "User.Create"), proven and bounded. */
export interface Registration {
  readonly name: string
  readonly email: string
  readonly emailKey: string
  readonly password: string
}

/** What is wrong with one field, as a sentence for the person who filled it in. */
export interface RegistrationError {
  readonly field: 'name' | 'email' | 'password' | 'confirmPassword'
  readonly detail: string
}

/** Parses the body of `POST /users`. Reads four fields of it and no other, never throws, and tells every failing field. */
export function parseRegistration(
  body: unknown,
): { registration: Registration } | { errors: RegistrationError[] } {
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

function failing(problems: Record<RegistrationError['field'], string | undefined>): RegistrationError[] {
  const fields = ['name', 'email', 'password', 'confirmPassword'] as const
  return fields.flatMap((field) => {
    const detail = problems[field]
    return detail === undefined ? [] : [{ field, detail }]
  })
}

/** A field that is a string; anything else counts as left empty. */
function ownText(body: unknown, field: RegistrationError['field']): string {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, field)) return ''
  const value: unknown = Reflect.get(body, field)
  return typeof value === 'string' ? value : ''
}
