import { type Answer, finishFlow } from '#auth/openid'
import { withNextPath } from '../../account/complete-sign-in.ts'
import type { Services } from '../../account/services.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { audit } from '../../site/audit.ts'
import { seeOther } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { confirmIdentity } from './confirm-with.ts'
import { linkIdentity } from './link-identity.ts'
import { unlessUnreachable } from './open-provider.ts'
import type { SiteFlowData } from './provider-flows.ts'
import { signInIdentity } from './sign-in-with.ts'
import { providerInPath, type SiteProvider, type SiteProviders } from './site-providers.ts'

/** `GET /login/with/:provider/callback`: the answer of a provider, for all purposes. It always redirects, so that no page has its URL. */
export function callback(router: SiteRouter, services: Services, providers: SiteProviders): void {
  router.get('/login/with/:provider/callback', async (ctx) => {
    const provider = providerInPath(providers, ctx.params)
    // A HEAD request has no answer.
    const answer = await unlessUnreachable(ctx, provider, () => finishFlow(provider, ctx))
    if (!answer || 'refused' in answer) return showRefusal(ctx, provider, answer)
    const { identity, flow } = answer
    const { data } = flow
    if (data?.purpose === 'sign-in') return signInIdentity(services, ctx, { provider, identity, data })
    const user = ctx.auth.get(User)
    // The session that started the flow may have ended or changed.
    if (!data || !user || user.id !== data.user || data.session !== currentDigest(ctx))
      return seeOther(ctx, '/login?expired')
    if (data.purpose === 'link') return linkIdentity(services, ctx, { provider, identity })
    return confirmIdentity(ctx, user, { provider, identity, data })
  })
}

type Refused = Extract<Answer<SiteFlowData>, { refused: unknown }>

// The code of the provider is logged, but not shown, because anyone can choose it.
function showRefusal(ctx: SiteContext, { label }: SiteProvider, answer: Refused | undefined): void {
  const { purpose = 'sign-in', next } = answer?.flow?.data ?? {}
  if (answer && answer.refused !== 'expired')
    audit(ctx, 'provider refused', undefined, {
      detail: label,
      logFields: { code: answer.code.slice(0, 50) },
    })
  const isCancelled = answer?.refused === 'denied'
  const notice = isCancelled
    ? `The sign-in with ${label} was cancelled.`
    : `The sign-in with ${label} has expired or was used before. Please start again.`
  if (purpose === 'link') seeOther(ctx, '/account/security', notice)
  else if (purpose === 'confirm') seeOther(ctx, withNextPath('/confirm', next), notice)
  else seeOther(ctx, withNextPath(isCancelled ? '/login?cancelled' : '/login?expired', next))
}
