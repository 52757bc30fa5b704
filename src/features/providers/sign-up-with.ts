import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core'
import { requestedNext, startSession } from '../../account/complete-sign-in.ts'
import { createAccount } from '../../account/create-account.ts'
import type { Services } from '../../account/services.ts'
import { FieldRefusal, Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { emailProblem } from '../../users/email.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
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
    const { identity } = signUp
    const user = await createAccount(services, ctx, {
      name,
      email,
      // Only the address that the provider has verified, and only unchanged.
      isVerified: identity.isEmailVerified && identity.email === email,
      onCreated: (em, user) => finish(em, user, { flows, signUp, label }),
    })
    if (!user) throw new FieldRefusal('email_taken', [{ field: 'email', detail: howToConnect(label) }])
    audit(ctx, 'signed up', user, { detail: `With ${label}` })
    // The account has no stronger proof, so a missing time counts as now.
    const at = new Date(identity.authenticatedAt ?? Date.now())
    await startSession(services, ctx, user, { isKept: signUp.kept, methods: [], at })
    seeOther(ctx, requestedNext(ctx) ?? '/account')
  })
}

/** Connects the identity of a sign-up to the new account. */
async function finish(
  em: EntityManager,
  user: User,
  { flows, signUp, label: provider }: { flows: ProviderFlows; signUp: SignUp; label: string },
): Promise<void> {
  const { identity } = signUp
  const label = labelOf(provider, identity)
  if (!(await flows.finishSignUp(em, signUp))) throw new Refusal(409, 'This sign-up has just been finished.')
  try {
    await insertIdentity(em, user.id, { provider: signUp.provider, identity, label })
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error
    throw new Refusal(409, `${label} has just been connected to another account. Start again to sign in.`)
  }
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
  return page(ctx, 'sign-up-with', { label, values, signUp, next: requestedNext(ctx), errors })
}
