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
import { pathId } from '../../site/path-id.ts'
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

// Also for a passkey of another user, so that it does not reveal whether the id exists.
const noSuchPasskey = 'You have no such passkey.'

const securityPage = '/account/security'

/** `/account/passkeys`: adds, renames and removes the passkeys of the user. */
export function accountPasskeys(router: SiteRouter, services: Services, showSecurity: ShowPage): void {
  const change = [...owner(services), fresh(securityPage), formAgain(showSecurity)] as const

  // A failed form leaves one of these addresses in the browser, where the user can open it again.
  router.get(['/account/passkeys', '/account/passkeys/:id/name'], ...owner(services), (ctx) =>
    seeOther(ctx, securityPage),
  )

  router.post('/account/passkeys', ...change, async (ctx) => {
    const added = await add(services, ctx)
    audit(ctx, 'passkey added', ctx.auth.require(User), { detail: added.name })
    if (wantsPage(ctx)) return seeOther(ctx, securityPage, `The passkey “${added.name}” has been added.`)
    ctx.status = 201
    ctx.body = passkeyRecord(added)
  })

  router.post('/account/passkeys/:id/name', ...change, async (ctx) => {
    const name = textFields(ctx, 'name').name.trim()
    refuseProblems({ name: name === '' ? 'Enter a name for the passkey.' : nameProblem(name) })
    const id = pathId(ctx, noSuchPasskey)
    const changed = await changeAccount(ctx, (em, { id: user }) =>
      em.nativeUpdate(Passkey, { user, id }, { name }),
    )
    if (changed === 0) throw new Refusal(404, noSuchPasskey)
    audit(ctx, 'passkey renamed', ctx.auth.require(User), { detail: name })
    complete(ctx, securityPage, `The passkey is now called “${name}”.`)
  })

  router.post('/account/passkeys/:id/remove', ...owner(services), fresh(securityPage), async (ctx) => {
    const name = await remove(services, ctx, pathId(ctx, noSuchPasskey))
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
function remove(services: Services, ctx: SiteContext, id: string): Promise<string> {
  return changeAccount(ctx, async (em, user) => {
    const own = { user: user.id, id }
    const found = await em.findOne(Passkey, own, { disableIdentityMap: true })
    if (!found) throw new Refusal(404, noSuchPasskey)
    await requireOtherWay(services, em, { user: user.id, without: id })
    await em.nativeDelete(Passkey, own)
    await notify(services, ctx, em, user, passkeyRemoved)
    return found.name
  })
}
