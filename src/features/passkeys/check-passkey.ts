import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import type { User } from '../../users/user.ts'
import { notify } from '../notices/notify.ts'
import { limited } from '../sign-in/guessing.ts'
import type { Assertion, Identified } from './use-passkey.ts'

/** The methods of a sign-in with a passkey (RFC 8176). User verification makes it two factors (NIST SP 800-63B-4 §3.1.7). */
export const passkeyMethods: readonly string[] = ['pop', 'mfa']

/** The message for every rejected answer, so that it does not reveal the reason. */
export const passkeyRefused =
  'The passkey was not accepted, or the page was open for too long. Try again, or use your password.'

/**
 * Verifies a passkey with rate limits. Records a rejected passkey in the audit trail.
 *
 * @param user the signed-in user, if there is one
 * @returns `undefined` if the passkey was rejected
 */
export async function checkPasskey(
  ctx: SiteContext,
  user: User | undefined,
  verify: () => Promise<Assertion>,
): Promise<Identified | undefined> {
  const found = await limited(ctx, { action: 'passkey', account: '' }, async () => {
    const assertion = await verify()
    if (assertion.isValid) return assertion
    if (assertion.counterWentBack) await reportCopy(ctx, assertion.counterWentBack)
    else audit(ctx, 'passkey refused', user)
    return undefined
  })
  if (found) await limited(ctx, { action: 'passkey-of-account', account: found.user.id }, async () => true)
  return found
}

async function reportCopy(ctx: SiteContext, { user, passkey }: Identified): Promise<void> {
  audit(ctx, 'passkey counter went back', user, { detail: passkey.name })
  await entityManager(ctx).transactional(async (em) => {
    if (await lockAccount(em, { id: user.id })) await notify(ctx, em, user, 'passkey counter went back')
  })
}
