import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { afterSignIn, requestedPath } from '../../account/complete-sign-in.ts'
import { limited } from '../../account/limits.ts'
import { outboxForVerification } from '../../account/mail-limit.ts'
import type { Services } from '../../account/services.ts'
import { limits } from '../../account/sessions/stored-session.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { emailProblem } from '../../users/email.ts'
import { noPassword } from '../../users/password.ts'
import { nameProblem } from '../../users/person-name.ts'
import { emailKey, User } from '../../users/user.ts'
import { insertIdentity, labelOf } from './link-identity.ts'
import type { ProviderFlows, SignUp } from './provider-flows.ts'
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
export function signUpWith(router: SiteRouter, services: Services, { flows, byId }: SiteProviders): void {
  const find = async (ctx: SiteContext) => {
    const signUp = await flows.findSignUp(ctx)
    // The configuration may have changed since the answer of the provider.
    const provider = byId.get(signUp?.provider ?? '')
    return signUp && provider && { signUp, label: provider.label }
  }
  const showForm = async (ctx: SiteContext, errors: FormMessage[] = []) => {
    const found = await find(ctx)
    return found ? form(ctx, found.label, found.signUp, errors) : seeOther(ctx, '/login?expired')
  }

  router.get('/signup/with', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, '/account')
    return showForm(ctx)
  })

  router.post('/signup/with', formAgain(showForm), async (ctx) => {
    // Throws 503 if the session cannot be read.
    ctx.auth.has(User)
    if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts only a form of the site.')
    const found = await find(ctx)
    // An answer in another tab replaces the sign-up. Its identity is not the one that this form showed.
    if (!found || fieldsOf(ctx).signUp !== found.signUp.digest) return seeOther(ctx, '/login?expired')
    const { signUp, label } = found
    const { name: typed, email } = textFields(ctx, 'name', 'email')
    const name = typed.trim()
    refuseProblems({ name: nameProblem(name), email: emailProblem(email) })
    const user = await limited(services, ctx, { action: 'sign-up', account: emailKey(email) }, async () =>
      (await isInUse(ctx, email))
        ? undefined
        : createUser(services, ctx, { flows, signUp, label, name, email }),
    )
    if (!user) throw new FieldRefusal('email_taken', [{ field: 'email', detail: howToConnect(label) }])
    audit(ctx, 'signed up', user, { detail: `With ${label}` })
    ctx.session.maxAge = (signUp.kept ? limits.kept : limits.usual).absolute
    // The account has no stronger proof, so a missing time counts as now.
    const at = new Date(signUp.identity.authenticatedAt ?? Date.now())
    ctx.auth.login(user, User, { methods: [], at })
    await services.guessing?.devices.remember(ctx, user)
    seeOther(ctx, afterSignIn(fieldsOf(ctx).next))
  })
}

interface NewUser {
  readonly flows: ProviderFlows
  readonly signUp: SignUp
  /** The name of the provider. */
  readonly label: string
  readonly name: string
  readonly email: string
}

/** Creates the user. Returns `undefined` if a concurrent request has created an account with the e-mail address. */
async function createUser(
  services: Services,
  ctx: SiteContext,
  { flows, signUp, label: provider, name, email }: NewUser,
): Promise<User | undefined> {
  const { identity } = signUp
  const label = labelOf(provider, identity)
  // Only the address that the provider has verified, and only unchanged.
  const isVerified = identity.isEmailVerified && identity.email === email
  const outbox = isVerified ? undefined : await outboxForVerification(services, ctx, email)
  try {
    return await entityManager(ctx).transactional(async (em) => {
      if (!(await flows.finishSignUp(em, signUp)))
        throw new Refusal(409, 'This sign-up has just been finished.')
      const emailVerifiedAt = isVerified ? new Date() : null
      const columns = { name, email, emailKey: emailKey(email), passwordHash: noPassword, emailVerifiedAt }
      const user = em.create(User, columns)
      await em.flush()
      await insertIdentity(em, user.id, { provider: signUp.provider, identity, label })
      await outbox?.add(em, { kind: 'verify', to: email, userId: user.id })
      return user
    })
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error
    if (await isInUse(ctx, email)) return undefined
    throw new Refusal(409, `${label} has just been connected to another account. Start again to sign in.`)
  }
}

async function isInUse(ctx: SiteContext, email: string): Promise<boolean> {
  const em = entityManager(ctx).fork()
  return (await em.count(User, { emailKey: emailKey(email) }, { filters: false })) > 0
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
