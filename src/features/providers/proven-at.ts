import { entityManager } from '#auth/mikro-orm'
import type { Identity } from '#auth/openid'
import { listPasskeys } from '../../account/passkeys/passkey.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { hasPassword } from '../../users/has-password.ts'
import type { User } from '../../users/user.ts'

/**
 * When a person proved who they are to the provider, which determines whether the session is fresh. Without a time, the proof counts as
 * old, because the person may have signed in to the provider days ago. An account without a password and passkeys has no stronger proof,
 * so its proof counts as new.
 */
export async function provenAt(
  ctx: SiteContext,
  { id }: User,
  { authenticatedAt }: Pick<Identity, 'authenticatedAt'>,
): Promise<Date> {
  if (authenticatedAt) return authenticatedAt
  const em = entityManager(ctx)
  const hasStrongerProof = (await hasPassword(em, id)) || (await listPasskeys(em, id)).length > 0
  return hasStrongerProof ? new Date(0) : new Date()
}
