import { requestedNext, startSession } from '../../account/complete-sign-in.ts'
import { createAccount } from '../../account/create-account.ts'
import type { Services } from '../../account/services.ts'
import { FieldRefusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { addressInUse, emailProblem } from '../../users/email.ts'
import { confirmationProblem, passwordProblem } from '../../users/password-problem.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User, userRecord } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'sign-up': { values: { name: string; email: string }; next?: string | undefined }
  }
}

/** The sign-up page, and `POST /users`, which creates an account. A form also signs the new user in. A JSON request gets the record. */
export function signUp(router: SiteRouter, services: Services): void {
  router.get('/signup', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, requestedNext(ctx) ?? '/account')
    return form(ctx)
  })

  router.post('/users', formAgain(form), async (ctx) => {
    // Throws 503 if the session cannot be read.
    ctx.auth.has(User)
    const typed = textFields(ctx, 'name', 'email', 'password', 'confirmPassword')
    const { email, password } = typed
    const name = typed.name.trim()
    refuseProblems({
      name: nameProblem(name),
      email: emailProblem(email),
      password: passwordProblem(password, { name, email }, services.siteName),
      confirmPassword: confirmationProblem(password, typed.confirmPassword),
    })
    const user = await createAccount(services, ctx, { name, email, password })
    if (!user) throw new FieldRefusal('email_taken', [addressInUse])
    audit(ctx, 'signed up', user)
    if (!wantsPage(ctx)) {
      ctx.status = 201
      ctx.body = userRecord(user)
      return
    }
    await startSession(services, ctx, user, { methods: ['pwd'] })
    seeOther(ctx, requestedNext(ctx) ?? '/account')
  })
}

function form(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const values = textFields(ctx, 'name', 'email')
  return page(ctx, 'sign-up', { values, errors, next: requestedNext(ctx) })
}
