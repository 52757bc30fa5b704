import type { EntityManager } from '@mikro-orm/core'
import { issueOneTimeToken, type NewOneTimeToken } from '../../users/one-time-tokens.ts'

/** How long a reset link works: an hour in milliseconds. */
export const resetLifetime = 60 * 60_000

/** How long the link of an invitation works: a day in milliseconds. */
export const invitationLifetime = 24 * 60 * 60_000

interface ResetLink {
  readonly account: NewOneTimeToken['account']
  readonly origin: string
  readonly purpose?: 'reset' | 'invite'
}

/**
 * Creates a link to choose a new password, or the first one with the purpose `invite`. It replaces the account's earlier link.
 * @param origin the origin of the site, never that of a request
 * @returns `undefined` if the account is disabled, or if its password has changed since the caller read it
 */
export async function createResetLink(
  em: EntityManager,
  { account, origin, purpose = 'reset' }: ResetLink,
): Promise<string | undefined> {
  const lifetime = purpose === 'reset' ? resetLifetime : invitationLifetime
  const token = await issueOneTimeToken(em, { purpose, account, lifetime })
  // In the query, because the request log contains paths.
  return token && `${origin}/reset?token=${token}`
}
