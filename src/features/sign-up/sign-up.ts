import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { afterSignIn, requestedPath } from '../../account/complete-sign-in.ts'
import { limited } from '../../account/limits.ts'
import { outboxForVerification } from '../../account/mail-limit.ts'
import type { Services } from '../../account/services.ts'
import { limits } from '../../account/sessions/stored-session.ts'
import { FieldRefusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { addressInUse, emailProblem } from '../../users/email.ts'
import { hashPassword } from '../../users/password.ts'
import { confirmationProblem, passwordProblem } from '../../users/password-problem.ts'
import { nameProblem } from '../../users/person-name.ts'
import { emailKey, User, userRecord } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'sign-up': { values?: { name?: string; email?: string }; next?: string | undefined }
  }
}

/** The sign-up page, and `POST /users`, which creates an account. A form also signs the new user in. A JSON request gets the record. */
export function signUp(router: SiteRouter, services: Services): void {
  router.get('/signup', (ctx) => {
    const next = queryParameter(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterSignIn(next))
    return page(ctx, 'sign-up', { next: requestedPath(next) })
  })

  router.post('/users', showFormAgain, async (ctx) => {
    // Throws 503 if the session cannot be read.
    ctx.auth.has(User)
    const registration = parseRegistration(ctx, services.siteName)
    const { emailKey } = registration
    const user = await limited(services, ctx, { action: 'sign-up', account: emailKey }, async () => {
      const isInUse = await entityManager(ctx).count(User, { emailKey }, { filters: false })
      return isInUse ? undefined : createUser(services, ctx, registration)
    })
    if (!user) throw new FieldRefusal('email_taken', [addressInUse])
    audit(ctx, 'signed up', user)
    if (!wantsPage(ctx)) {
      ctx.status = 201
      ctx.body = userRecord(user)
      return
    }
    ctx.session.maxAge = limits.usual.absolute
    ctx.auth.login(user, User, { methods: ['pwd'] })
    await services.guessing?.devices.remember(ctx, user)
    seeOther(ctx, afterSignIn(fieldsOf(ctx).next))
  })
}

/** Creates the user. Returns `undefined` if a concurrent request has created an account with the e-mail address. */
async function createUser(
  services: Services,
  ctx: SiteContext,
  registration: Registration,
): Promise<User | undefined> {
  const { name, email, emailKey, password } = registration
  const passwordHash = await hashPassword(password)
  const outbox = await outboxForVerification(services, ctx, email)
  try {
    return await entityManager(ctx).transactional(async (em) => {
      const user = em.create(User, { name, email, emailKey, passwordHash })
      await em.flush()
      await outbox?.add(em, { kind: 'verify', to: email, userId: user.id })
      return user
    })
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return undefined
    throw error
  }
}

const showFormAgain = formAgain((ctx, errors) =>
  page(ctx, 'sign-up', {
    values: textFields(ctx, 'name', 'email'),
    errors,
    next: requestedPath(fieldsOf(ctx).next),
  }),
)

interface Registration {
  readonly name: string
  readonly email: string
  readonly emailKey: string
  readonly password: string
}

/** Parses the body of `POST /users`. Throws a 400 that lists every field with a problem. */
export function parseRegistration(ctx: Pick<SiteContext, 'request'>, siteName: string): Registration {
  const fields = textFields(ctx, 'name', 'email', 'password', 'confirmPassword')
  const { email, password } = fields
  const name = fields.name.trim()
  refuseProblems({
    name: nameProblem(name),
    email: emailProblem(email),
    password: passwordProblem(password, { name, email }, siteName),
    confirmPassword: confirmationProblem(password, fields.confirmPassword),
  })
  return { name, email, emailKey: emailKey(email), password }
}
