import { ignoreSession } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import type { Identity } from '#auth/openid'
import { asksToBeKept, completeSignIn, requestedNext, withNextPath } from '../../account/complete-sign-in.ts'
import type { Services } from '../../account/services.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, type ShowPage } from '../../site/form.ts'
import { seeOther } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { emailProblem } from '../../users/email.ts'
import { LinkedIdentity } from '../../users/linked-identity.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { openProvider } from './open-provider.ts'
import { provenAt } from './proven-at.ts'
import type { StoredIdentity } from './provider-flow.ts'
import { type Answered, providerInPath, type SiteProviders } from './site-providers.ts'

/** `POST /login/with/:provider`: opens the provider to sign in or to sign up. */
export function signInWith(
  router: SiteRouter,
  services: Services,
  providers: SiteProviders,
  showSignIn: ShowPage,
): void {
  // A failed sign-in leaves this URL in the browser, where the user can open it again.
  router.get('/login/with/:provider', (ctx) => seeOther(ctx, '/login'))

  router.post('/login/with/:provider', formAgain(showSignIn), async (ctx) => {
    const provider = providerInPath(providers, ctx.params)
    const next = requestedNext(ctx)
    await openProvider(services, ctx, provider, { purpose: 'sign-in', next, kept: asksToBeKept(ctx) })
  })
}

/**
 * Signs in the user of an identity, or asks for the code of the authenticator app first. An unknown identity leads to the sign-up form.
 * The e-mail address of the identity finds no account, because its owner may be another person.
 *
 * @throws {Refusal} `account_disabled` (403) if the account is disabled
 */
export async function signInIdentity(
  services: Services,
  ctx: SiteContext,
  { provider, identity, data: { next, kept } }: Answered,
): Promise<void> {
  const user = await useIdentity(ctx, provider.id, identity)
  if (!user) {
    await provider.flows.keepForSignUp(ctx, { provider: provider.id, kept }, stored(identity))
    return seeOther(ctx, withNextPath('/signup/with', next))
  }
  // Another user may be signed in. That session ends.
  ignoreSession(ctx, User)
  const detail = `With ${provider.label}`
  if (user.secondFactorAt) {
    audit(ctx, 'code required', user, { detail })
    await services.pendingSignIns.start(ctx, user, { kept, methods: [] })
    return seeOther(ctx, withNextPath('/login/code', next))
  }
  const at = await provenAt(ctx, user, identity)
  await completeSignIn(services, ctx, user, { isKept: kept, next, methods: [], at, detail })
}

/** The user of an identity. Records the use of the identity, and the name of the provider, which may have changed. */
async function useIdentity(
  ctx: SiteContext,
  provider: string,
  { issuer, subject }: Identity,
): Promise<User | undefined> {
  const em = entityManager(ctx)
  const options = { populate: ['user'], filters: false, disableIdentityMap: true } as const
  const found = await em.findOne(LinkedIdentity, { issuer, subject }, options)
  if (!found) return undefined
  if (found.user.disabledAt) throw new Refusal('account_disabled', 'This account is disabled.')
  await em.nativeUpdate(LinkedIdentity, { id: found.id }, { lastUsedAt: new Date(), provider })
  return found.user
}

/** What the sign-up form needs. The provider may have sent a name or an address that the site does not accept. */
function stored({ issuer, subject, isEmailVerified, ...claimed }: Identity): StoredIdentity {
  const { email = '', name = '', authenticatedAt } = claimed
  return {
    ...{ issuer, subject, isEmailVerified, authenticatedAt: authenticatedAt?.getTime() },
    ...(emailProblem(email) === undefined && { email }),
    ...(nameProblem(name.trim()) === undefined && { name: name.trim() }),
  }
}
