import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { afterSignIn, requestedPath } from '../../account/complete-sign-in.ts'
import { limited } from '../../account/limits.ts'
import { countVerification, mayMail } from '../../account/mail-limit.ts'
import type { Services } from '../../account/services.ts'
import { lifetime } from '../../account/sessions/session-limits.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { emailKey, emailProblem } from '../../users/email.ts'
import { noPassword } from '../../users/password.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { insertIdentity, labelOf } from './link-identity.ts'
import type { SignUp } from './provider-flows.ts'
import type { SiteProviders } from './site-providers.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'sign-up-with': {
      label: string
      values: { name: string; email: string }
      /** Identifies the sign-up, because another tab may have replaced it. */
      signUp: string
      next?: string | undefined
    }
  }
}

/** `/signup/with`: creates an account for an identity that no account has. The account has no password. */
export function signUpWith(router: SiteRouter, services: Services, providers: SiteProviders): void {
  const { flows, byId } = providers
  const find = async (ctx: SiteContext) => {
    const signUp = await flows.findSignUp(ctx)
    // The configuration may have changed since the answer of the provider.
    return signUp && byId.has(signUp.provider) ? signUp : undefined
  }
  const showForm = async (ctx: SiteContext, errors: FormMessage[] = []) => {
    const signUp = await find(ctx)
    return signUp ? form(ctx, labelIn(providers, signUp), signUp, errors) : seeOther(ctx, '/login?expired')
  }

  router.get('/signup/with', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, '/account')
    return showForm(ctx)
  })

  router.post('/signup/with', formAgain(showForm), async (ctx) => {
    // Throws 503 if the session cannot be read.
    ctx.auth.has(User)
    if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts only a form of the site.')
    const signUp = await find(ctx)
    // An answer in another tab replaces the sign-up. Its identity is not the one that this form showed.
    if (!signUp || fieldsOf(ctx).signUp !== signUp.digest) return seeOther(ctx, '/login?expired')
    const label = labelIn(providers, signUp)
    const { name: typed, email } = textFields(ctx, 'name', 'email')
    const name = typed.trim()
    refuseProblems({ name: nameProblem(name), email: emailProblem(email) })
    const user = await limited(services, ctx, { action: 'sign-up', account: emailKey(email) }, async () =>
      (await isInUse(ctx, email)) ? undefined : createUser(services, ctx, { providers, signUp, name, email }),
    )
    if (!user) throw new FieldRefusal('email_taken', [{ field: 'email', detail: howToConnect(label) }])
    audit(ctx, 'signed up', user, { detail: `With ${label}` })
    ctx.session.maxAge = lifetime(signUp.kept)
    // The account has no stronger proof, so a missing time counts as now.
    const at = new Date(signUp.identity.authenticatedAt ?? Date.now())
    ctx.auth.login(user, User, { methods: [], at })
    await services.guessing?.devices.store(ctx, user)
    seeOther(ctx, afterSignIn(fieldsOf(ctx).next))
  })
}

interface NewUser {
  readonly providers: SiteProviders
  readonly signUp: SignUp
  readonly name: string
  readonly email: string
}

/** Creates the user. Returns `undefined` if a concurrent request has created an account with the e-mail address. */
async function createUser(
  services: Services,
  ctx: SiteContext,
  { providers, signUp, name, email }: NewUser,
): Promise<User | undefined> {
  const { identity, provider } = signUp
  const label = labelOf({ label: labelIn(providers, signUp) }, identity)
  // Only the address that the provider has verified, and only unchanged.
  const isVerified = identity.isEmailVerified && identity.email === email
  const { outbox } = services
  const isMailed =
    !isVerified &&
    outbox &&
    !(await outbox.isFull()) &&
    (await mayMail(() => countVerification(services, ctx, email)))
  try {
    return await entityManager(ctx).transactional(async (em) => {
      if (!(await providers.flows.finishSignUp(em, signUp)))
        throw new Refusal(409, 'This sign-up has just been finished.')
      const emailVerifiedAt = isVerified ? new Date() : null
      const columns = { name, email, emailKey: emailKey(email), passwordHash: noPassword, emailVerifiedAt }
      const user = em.create(User, columns)
      await em.flush()
      await insertIdentity(em, user.id, { provider, identity, label })
      if (isMailed) await outbox.add(em, { kind: 'verify', to: email, userId: user.id })
      return user
    })
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error
    if (await isInUse(ctx, email)) return undefined
    throw new Refusal(409, `${label} has just been connected to another account. Start again to sign in.`)
  }
}

async function isInUse(ctx: SiteContext, email: string): Promise<boolean> {
  return (
    (await entityManager(ctx)
      .fork()
      .count(User, { emailKey: emailKey(email) }, { filters: false })) > 0
  )
}

function labelIn({ byId }: SiteProviders, { provider }: SignUp): string {
  return byId.get(provider)?.label ?? provider
}

function howToConnect(label: string): string {
  return `There is already an account with this e-mail address. Sign in to it, and connect ${label} on the page “Security”.`
}

function form(
  ctx: SiteContext,
  label: string,
  { identity, digest: signUp }: SignUp,
  errors: FormMessage[],
): Promise<void> {
  const { name = '', email = '' } = identity
  const isSent = fieldsOf(ctx).email !== undefined
  const values = isSent ? textFields(ctx, 'name', 'email') : { name, email }
  const next = requestedPath(isSent ? fieldsOf(ctx).next : queryParameter(ctx, 'next'))
  return page(ctx, 'sign-up-with', { label, values, signUp, next, errors })
}
