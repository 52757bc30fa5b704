import { entityManager } from '#auth/mikro-orm'
import { afterSignIn, requestedNext, withNextPath } from '../../account/complete-sign-in.ts'
import { isRecent } from '../../account/fresh.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { replaceSession } from '../../account/sessions/session-cookie.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { seeOther } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { LinkedIdentity } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'
import { openProvider } from './open-provider.ts'
import { provenAt } from './proven-at.ts'
import { type Answered, providerInPath, type SiteProviders } from './site-providers.ts'

/** `POST /confirm/with/:provider`: asks for a new sign-in at the provider before a sensitive action. */
export function confirmWith(router: SiteRouter, services: Services, providers: SiteProviders): void {
  router.get('/confirm/with/:provider', ...owner(services), (ctx) => seeOther(ctx, '/confirm'))

  router.post('/confirm/with/:provider', ...owner(services), async (ctx) => {
    const { id, secondFactorAt } = ctx.auth.require(User)
    // The provider is one factor, like the password.
    if (secondFactorAt)
      throw new Refusal(409, 'Confirm with a code of your authenticator app, or with a passkey.')
    const provider = providerInPath(providers, ctx.params)
    const next = requestedNext(ctx)
    const session = currentDigest(ctx)
    await openProvider(services, ctx, provider, { purpose: 'confirm', kept: false, next, user: id, session })
  })
}

/** Makes the session fresh if the identity belongs to its user, and if the proof at the provider is new. */
export async function confirmIdentity(
  ctx: SiteContext,
  user: User,
  { provider: { label }, identity, data: { next } }: Answered,
): Promise<void> {
  // The user may have turned on an authenticator app in the meantime.
  if (user.secondFactorAt) return seeOther(ctx, '/login?expired')
  const again = withNextPath('/confirm', next)
  const { issuer, subject } = identity
  const isOwn = await entityManager(ctx).count(LinkedIdentity, { issuer, subject, user: user.id })
  if (!isOwn) return seeOther(ctx, again, `This is another ${label} account than the one that is connected.`)
  const at = await provenAt(ctx, user, identity)
  if (!isRecent(at))
    return seeOther(ctx, again, `${label} did not ask you to sign in again. Confirm in another way.`)
  replaceSession(ctx, user, [], at)
  audit(ctx, 'confirmed', user, { detail: `With ${label}` })
  seeOther(ctx, afterSignIn(next), 'Thank you. You can continue now.')
}
