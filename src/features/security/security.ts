import { entityManager } from '#auth/mikro-orm'
import { needsPassword } from '../../account/fresh.ts'
import { owner } from '../../account/owner.ts'
import { creationOptions } from '../../account/passkeys/add-passkey.ts'
import { listPasskeys, passkeyRecord } from '../../account/passkeys/passkey.ts'
import { relyingParty } from '../../account/passkeys/site-passkeys.ts'
import { countRecoveryCodes } from '../../account/second-factor/recovery-codes.ts'
import type { Services } from '../../account/services.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import type { ShowPage } from '../../site/form.ts'
import { page, takeNotice, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { hasPassword } from '../../users/has-password.ts'
import { identityRecord, listIdentities } from '../../users/linked-identity.ts'
import { isVerified, User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    security: Awaited<ReturnType<typeof dataOf>>
  }
}

const securityPage = '/account/security'

/**
 * `GET /account/security`: the second factor, the passkeys and the connected accounts. Returns the function that shows the page again with the
 * errors of a rejected form.
 */
export function security(router: SiteRouter, services: Services): ShowPage {
  router.get(securityPage, ...owner(services), async (ctx) => {
    if (wantsPage(ctx)) return showSecurity(services, ctx)
    const { passkeys, ...factors } = await factorsOf(ctx)
    const totp = Boolean(ctx.auth.require(User).secondFactorAt)
    ctx.body = { totp, ...factors, passkeys: passkeys.map(passkeyRecord) }
  })
  return (ctx, errors) => showSecurity(services, ctx, errors)
}

async function showSecurity(services: Services, ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const data = await dataOf(services, ctx)
  await page(ctx, 'security', { ...data, errors, notice: takeNotice(ctx) })
}

async function dataOf(services: Services, ctx: SiteContext) {
  const user = ctx.auth.require(User)
  const { passkeys, ...factors } = await factorsOf(ctx)
  return {
    ...factors,
    passwordChangedAt: user.passwordChangedAt,
    // The time at which the authenticator app was turned on.
    secondFactorAt: user.secondFactorAt,
    // Whether a second factor can be turned on. In production, this requires `SECRETS_KEY`.
    isAvailable: services.secretBox !== undefined,
    passkeys: passkeys.map((passkey) => ({ ...passkeyRecord(passkey), isSynced: passkey.isBackedUp })),
    isVerified: isVerified(user),
    // The action that the user wanted before the confirmation. Its question is open.
    opened: queryParameter(ctx, 'do'),
    hasPasskeys: relyingParty(services, ctx) !== undefined,
    passkeyOptions: await optionsToAdd(services, ctx),
    // Whether the session has a proof of identity from the last ten minutes.
    isFresh: !needsPassword(ctx),
  }
}

async function factorsOf(ctx: SiteContext) {
  const { id, secondFactorAt } = ctx.auth.require(User)
  const em = entityManager(ctx)
  return {
    recoveryCodesLeft: secondFactorAt ? await countRecoveryCodes(em, id) : 0,
    passkeys: await listPasskeys(em, id),
    identities: (await listIdentities(em, id)).map(identityRecord),
    hasPassword: await hasPassword(em, id),
  }
}

/** The options to add a passkey. `undefined` if the site does not support passkeys, or if the user has to confirm first. */
async function optionsToAdd(services: Services, ctx: SiteContext): Promise<string | undefined> {
  const party = relyingParty(services, ctx)
  if (!party || needsPassword(ctx)) return undefined
  const owner = { user: ctx.auth.require(User), session: currentDigest(ctx) }
  return JSON.stringify(await creationOptions(entityManager(ctx), party, owner))
}
