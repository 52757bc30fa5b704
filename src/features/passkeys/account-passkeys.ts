import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { deviceName } from '../../account/devices/device-name.ts'
import { fresh } from '../../account/fresh.ts'
import { count } from '../../account/limits.ts'
import { type Notice, notify } from '../../account/notify.ts'
import { owner } from '../../account/owner.ts'
import { insertPasskey, verifyRegistration } from '../../account/passkeys/add-passkey.ts'
import { Passkey, passkeyRecord } from '../../account/passkeys/passkey.ts'
import { providerName } from '../../account/passkeys/provider-name.ts'
import { requireRelyingParty } from '../../account/passkeys/site-passkeys.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { requireOtherWay } from '../../account/ways-to-sign-in.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, type ShowPage, textFields } from '../../site/form.ts'
import { complete, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'

const passkeyAdded: Notice = {
  subject: 'A passkey was added to your account',
  text: 'A passkey was added to your account. It can sign in without the password. A new password does not remove it. You can remove it on the page “Security” of your account.',
}
const passkeyRemoved: Notice = {
  subject: 'A passkey was removed from your account',
  text: 'A passkey of your account was removed. You can no longer sign in with it.',
}

const securityPage = '/account/security'

/**
 * `/account/passkeys`: adds, renames and removes the passkeys of the user.
 *
 * @param providers the ids of the identity providers of the site
 */
export function accountPasskeys(
  router: SiteRouter,
  services: Services,
  { showSecurity, providers }: { showSecurity: ShowPage; providers: readonly string[] },
): void {
  // A failed form leaves one of these addresses in the browser, where the user can open it again.
  router.get(['/account/passkeys', '/account/passkeys/:id/name'], ...owner(services), (ctx) =>
    seeOther(ctx, securityPage),
  )

  router.post(
    '/account/passkeys',
    ...owner(services),
    fresh(securityPage),
    formAgain(showSecurity),
    async (ctx) => {
      const added = await add(services, ctx)
      audit(ctx, 'passkey added', ctx.auth.require(User), { detail: added.name })
      if (wantsPage(ctx)) return seeOther(ctx, securityPage, `The passkey “${added.name}” has been added.`)
      ctx.status = 201
      ctx.body = passkeyRecord(added)
    },
  )

  router.post(
    '/account/passkeys/:id/name',
    ...owner(services),
    fresh(securityPage),
    formAgain(showSecurity),
    async (ctx) => {
      const name = textFields(ctx, 'name').name.trim()
      refuseProblems({ name: name === '' ? 'Enter a name for the passkey.' : nameProblem(name) })
      const own = ownPasskey(ctx, ctx.params.id)
      const changed = await changeAccount(ctx, (em) => em.nativeUpdate(Passkey, own, { name }))
      if (changed === 0) throw noSuchPasskey()
      audit(ctx, 'passkey renamed', ctx.auth.require(User), { detail: name })
      complete(ctx, securityPage, `The passkey is now called “${name}”.`)
    },
  )

  router.post('/account/passkeys/:id/remove', ...owner(services), fresh(securityPage), async (ctx) => {
    const name = await remove(services, ctx, { own: ownPasskey(ctx, ctx.params.id), providers })
    audit(ctx, 'passkey removed', ctx.auth.require(User), { detail: name })
    complete(
      ctx,
      securityPage,
      `The passkey “${name}” has been removed. Delete it in your device or password manager too.`,
    )
  })
}

/** Adds the passkey in the body. Its default name is that of its provider, or of the device. */
async function add(services: Services, ctx: SiteContext): Promise<Passkey> {
  const party = requireRelyingParty(services, ctx)
  const user = ctx.auth.require(User)
  const { credential, name: typed } = textFields(ctx, 'credential', 'name')
  refuseProblems({ name: typed.trim() === '' ? undefined : nameProblem(typed.trim()) })
  await count(services, ctx, 'passkey-of-account', user.id)
  const owner = { user, session: currentDigest(ctx) }
  const verified = await verifyRegistration(entityManager(ctx), party, owner, credential)
  const name = typed.trim() || (providerName(verified.aaguid) ?? deviceName(ctx.get('User-Agent')))
  return changeAccount(ctx, async (em) => {
    const added = await insertPasskey(em, user.id, { ...verified, name })
    await notify(services, ctx, em, user, passkeyAdded)
    return added
  })
}

/** Removes a passkey, and returns its name. Throws 409 for the last way to sign in. */
function remove(
  services: Services,
  ctx: SiteContext,
  { own, providers }: { own: ReturnType<typeof ownPasskey>; providers: readonly string[] },
): Promise<string> {
  return changeAccount(ctx, async (em, user) => {
    const found = await em.findOne(Passkey, own, { disableIdentityMap: true })
    if (!found) throw noSuchPasskey()
    await requireOtherWay(em, user.id, { without: found.id, providers })
    await em.nativeDelete(Passkey, own)
    await notify(services, ctx, em, user, passkeyRemoved)
    return found.name
  })
}

/** The condition for the user's passkey with an id. */
function ownPasskey(ctx: SiteContext, id = '') {
  if (!isUUID(id)) throw noSuchPasskey()
  return { user: ctx.auth.require(User).id, id: id.toLowerCase() }
}

// The same error for a passkey of another user, so that it does not reveal whether the id exists.
function noSuchPasskey(): Refusal {
  return new Refusal(404, 'You have no such passkey.')
}
