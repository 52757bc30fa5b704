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
import { pathId } from '../../site/path-id.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { LinkedIdentity, listIdentities } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'
import { openProvider } from './open-provider.ts'
import { providerInPath, type SiteProviders } from './site-providers.ts'

const securityPage = '/account/security'
// Also for an identity of another user, so that it does not reveal whether the id exists.
const noSuchIdentity = 'You have no such connected account.'

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

  const change = [...owner(services), fresh(securityPage), formAgain(showSecurity)] as const

  router.post('/account/identities/with/:provider', ...change, async (ctx) => {
    const { id: user } = ctx.auth.require(User)
    const data = { purpose: 'link', kept: false, user, session: currentDigest(ctx) } as const
    await openProvider(services, ctx, providerInPath(providers, ctx.params), data)
  })

  router.post('/account/identities/:id/remove', ...change, async (ctx) => {
    const label = await unlink(services, ctx, pathId(ctx, noSuchIdentity))
    audit(ctx, 'identity removed', ctx.auth.require(User), { detail: label })
    complete(ctx, securityPage, `${label} has been disconnected. You can no longer sign in with it.`)
  })
}

const identityRemoved: Notice = {
  subject: 'An account of a provider was disconnected',
  text: 'An account of an identity provider was disconnected from your account. It can no longer sign in.',
}

/** Removes an identity, and returns its label. Throws 409 for the last way to sign in. */
function unlink(services: Services, ctx: SiteContext, id: string): Promise<string> {
  return changeAccount(ctx, async (em, user) => {
    const own = await listIdentities(em, user.id)
    const found = own.find((each) => each.id === id)
    if (!found) throw new Refusal(404, noSuchIdentity)
    await requireOtherWay(services, em, { user: user.id, without: id })
    await em.nativeDelete(LinkedIdentity, { id: found.id })
    await notify(services, ctx, em, user, identityRemoved)
    return found.label
  })
}
