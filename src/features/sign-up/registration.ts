import { refuseProblems, textFields } from '../../site/form.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { emailKey, emailProblem } from '../../users/email.ts'
import { confirmationProblem, passwordProblem } from '../../users/password-problem.ts'
import { nameProblem } from '../../users/person-name.ts'

/** The validated fields of a sign-up. */
export interface Registration {
  readonly name: string
  readonly email: string
  readonly emailKey: string
  readonly password: string
}

/** Parses the body of `POST /users`. Throws a 400 that lists every field with a problem. */
export function parseRegistration(ctx: Pick<SiteContext, 'request' | 'siteName'>): Registration {
  const fields = textFields(ctx, 'name', 'email', 'password', 'confirmPassword')
  const { email, password } = fields
  const name = fields.name.trim()
  refuseProblems({
    name: nameProblem(name),
    email: emailProblem(email),
    password: passwordProblem(password, { name, email }, ctx.siteName),
    confirmPassword: confirmationProblem(password, fields.confirmPassword),
  })
  return { name, email, emailKey: emailKey(email), password }
}
