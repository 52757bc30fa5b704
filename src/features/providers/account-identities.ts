import { validate as isUUID } from 'uuid'
import { fresh } from '../../account/fresh.ts'
import { type Notice, notify } from '../../account/notify.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { requireOtherWay } from '../../account/ways-to-sign-in.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, type ShowPage } from '../../site/form.ts'
import { complete, seeOther } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { LinkedIdentity, listIdentities } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'
import { openProvider } from './open-provider.ts'
import { providerInPath, type SiteProviders } from './site-providers.ts'

const securityPage = '/account/security'

/** `/account/identities`: connects accounts at identity providers, and disconnects them. */
export function accountIdentities(
  router: SiteRouter,
  services: Services,
  providers: SiteProviders,
  showSecurity: ShowPage,
): void {
  // A failed form leaves one of these addresses in the browser, where the user can open it again.
  router.get(
    ['/account/identities/with/:provider', '/account/identities/:id/remove'],
    ...owner(services),
    (ctx) => seeOther(ctx, securityPage),
  )

  router.post(
    '/account/identities/with/:provider',
    ...owner(services),
    fresh(securityPage),
    formAgain(showSecurity),
    async (ctx) => {
      const { id: user } = ctx.auth.require(User)
      const data = { purpose: 'link', kept: false, user, session: currentDigest(ctx) } as const
      await openProvider(services, ctx, providerInPath(providers, ctx.params), data)
    },
  )

  router.post('/account/identities/:id/remove', ...owner(services), fresh(securityPage), async (ctx) => {
    const label = await unlink(services, ctx, ctx.params.id ?? '', [...providers.byId.keys()])
    audit(ctx, 'identity removed', ctx.auth.require(User), { detail: label })
    complete(ctx, securityPage, `${label} has been disconnected. You can no longer sign in with it.`)
  })
}

const identityRemoved: Notice = {
  subject: 'An account of a provider was disconnected',
  text: 'An account of an identity provider was disconnected from your account. It can no longer sign in.',
}

/** Removes an identity, and returns its label. Throws 409 for the last way to sign in. */
function unlink(
  services: Services,
  ctx: SiteContext,
  id: string,
  providers: readonly string[],
): Promise<string> {
  return changeAccount(ctx, async (em, user) => {
    const own = await listIdentities(em, user.id)
    const found = isUUID(id) ? own.find((each) => each.id === id.toLowerCase()) : undefined
    // The same error for an identity of another user, so that it does not reveal whether the id exists.
    if (!found) throw new Refusal(404, 'You have no such connected account.')
    await requireOtherWay(em, user.id, { without: found.id, providers })
    await em.nativeDelete(LinkedIdentity, { id: found.id })
    await notify(services, ctx, em, user, identityRemoved)
    return found.label
  })
}
