import { entityManager } from '#auth/mikro-orm'
import { page, takeNotice, wantsPage } from '../../site/page.ts'
import { passkeyRecord } from '../../site/records.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'
import { needsPassword } from '../confirm/fresh.ts'
import { creationOptions } from '../passkeys/add-passkey.ts'
import { listPasskeys } from '../passkeys/passkey.ts'
import { relyingParty } from '../passkeys/site-passkeys.ts'
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts'
import { deviceName } from '../sessions/device-name.ts'
import { currentDigest } from '../sessions/session-store.ts'
import { owner } from '../sign-in/owner.ts'

export const securityPage = '/account/security'

/** `GET /account/security`: the second factor and the passkeys of the account. */
export function security(router: SiteRouter): void {
  router.get(securityPage, ...owner(), async (ctx) => {
    if (wantsPage(ctx)) return showSecurity(ctx)
    ctx.body = { totp: Boolean(ctx.auth.require(User).secondFactorAt), ...(await factorsOf(ctx)) }
  })
}

/** Shows the page, with the errors of a rejected form. */
export async function showSecurity(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const { secondFactorAt, passwordChangedAt } = ctx.auth.require(User)
  await page(ctx, 'security', {
    passwordChangedAt,
    secondFactorAt: secondFactorAt ?? undefined,
    isAvailable: ctx.secretBox !== undefined,
    ...(await factorsOf(ctx)),
    hasPasskeys: relyingParty(ctx) !== undefined,
    passkeyOptions: await optionsToAdd(ctx),
    isFresh: !needsPassword(ctx),
    device: deviceName(ctx.get('User-Agent')),
    errors,
    notice: takeNotice(ctx),
  })
}

async function factorsOf(ctx: SiteContext) {
  const { id, secondFactorAt } = ctx.auth.require(User)
  const em = entityManager(ctx)
  return {
    recoveryCodesLeft: secondFactorAt ? await countRecoveryCodes(em, id) : 0,
    passkeys: (await listPasskeys(em, id)).map(passkeyRecord),
  }
}

/** The options to add a passkey. `undefined` if the site does not support passkeys, or if the user has to confirm first. */
async function optionsToAdd(ctx: SiteContext): Promise<string | undefined> {
  const party = relyingParty(ctx)
  if (!party || needsPassword(ctx)) return undefined
  const owner = { user: ctx.auth.require(User), session: currentDigest(ctx) }
  return JSON.stringify(await creationOptions(entityManager(ctx), party, owner))
}
