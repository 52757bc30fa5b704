import { entityManager } from '#auth/mikro-orm'
import type { SiteContext } from '../../site/site-context.ts'
import type { User } from '../../users/user.ts'
import { currentDigest } from '../sessions/session-store.ts'
import { checkPasskey } from './check-passkey.ts'
import { listPasskeys } from './own-passkeys.ts'
import { relyingPartyOf } from './site-passkeys.ts'
import { requestOptions, verifyConfirmation } from './use-passkey.ts'

/** The options to confirm with a passkey, as JSON. `undefined` if the user has no passkey. */
export async function confirmationOptions(ctx: SiteContext, { id }: User): Promise<string | undefined> {
  const party = ctx.passkeys?.relyingParty(ctx)
  const own = party ? await listPasskeys(entityManager(ctx), id) : []
  if (!party || own.length === 0) return undefined
  const ceremony = { purpose: 'confirm', binding: currentDigest(ctx) } as const
  return JSON.stringify(requestOptions(party, ceremony, own))
}

/** Whether the user has confirmed with a passkey of the account. */
export async function confirmedByPasskey(ctx: SiteContext, user: User, credential: string): Promise<boolean> {
  const party = relyingPartyOf(ctx)
  const given = { user, session: currentDigest(ctx), credential }
  const found = await checkPasskey(ctx, user, () => verifyConfirmation(entityManager(ctx), party, given))
  return found !== undefined
}
