import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount, type User } from '../../users/user.ts'
import { count, limited } from '../limits.ts'
import { type Notice, notify } from '../notify.ts'
import type { Services } from '../services.ts'
import { currentDigest } from '../sessions/session-store.ts'
import { listPasskeys, type Passkey } from './passkey.ts'
import { relyingParty, requireRelyingParty } from './site-passkeys.ts'
import { requestOptions, type Use, verifyUse } from './use-passkey.ts'

/** The authentication methods of a passkey (RFC 8176). User verification makes it two factors (NIST SP 800-63B-4 §3.1.7). */
export const passkeyMethods: readonly string[] = ['pop', 'mfa']

/** The message for every rejected passkey at a sign-in or a confirmation. It does not reveal the reason. */
export const passkeyRefused =
  'The passkey was not accepted, or the page was open for too long. Try again, or use your password.'

/** The options to confirm with a passkey, as JSON. `undefined` if the site does not support passkeys, or the user has none. */
export async function confirmationOptions(
  services: Services,
  ctx: SiteContext,
  { id }: User,
): Promise<string | undefined> {
  const party = relyingParty(services, ctx)
  const own = party ? await listPasskeys(entityManager(ctx), id) : []
  return party && own.length > 0 ? JSON.stringify(requestOptions(party, confirmation(ctx), own)) : undefined
}

/** The ceremony in which a user confirms with a passkey of the account. */
export function confirmation(ctx: SiteContext) {
  return { purpose: 'confirm', binding: currentDigest(ctx) } as const
}

/**
 * Verifies a passkey, and rate-limits the attempts. Records a rejected passkey in the audit trail.
 *
 * @returns the passkey with its user; `undefined` if it was rejected
 */
export async function checkPasskey(
  services: Services,
  ctx: SiteContext,
  use: Use,
): Promise<Passkey | undefined> {
  const party = requireRelyingParty(services, ctx)
  const found = await limited(services, ctx, { action: 'passkey', account: '' }, async () => {
    const { accepted, copy } = await verifyUse(entityManager(ctx), party, use)
    if (copy) await reportCopy(services, ctx, copy)
    else if (!accepted) audit(ctx, 'passkey refused', use.user)
    return accepted
  })
  if (found) await count(services, ctx, 'passkey-of-account', found.user.id)
  return found
}

const copyRejected: Notice = {
  subject: 'A passkey of your account was rejected',
  text: 'A passkey of your account was rejected, because it may be a copy. Remove it on the page “Security” of your account, and add a new one.',
  needsOperator: true,
  mustAct: true,
}

async function reportCopy(services: Services, ctx: SiteContext, { user, name }: Passkey): Promise<void> {
  audit(ctx, 'passkey counter went back', user, { detail: name })
  await entityManager(ctx).transactional(async (em) => {
    if (await lockAccount(em, { id: user.id })) await notify(services, ctx, em, user, copyRejected)
  })
}
