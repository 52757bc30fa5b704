import type { EntityManager } from '@mikro-orm/core'
import { issueOneTimeToken, type NewOneTimeToken } from '../../users/one-time-tokens.ts'

/** How long a reset link works: an hour in milliseconds. */
export const resetLifetime = 60 * 60_000

/**
 * Creates a link to choose a new password. It replaces the account's earlier link.
 * @param origin the origin of the site, never that of a request
 * @returns `undefined` if the account is disabled, or if its password has changed since the caller read it
 */
export async function createResetLink(
  em: EntityManager,
  { account, origin }: { account: NewOneTimeToken['account']; origin: string },
): Promise<string | undefined> {
  const token = await issueOneTimeToken(em, { purpose: 'reset', account, lifetime: resetLifetime })
  // In the query, because the request log contains paths.
  return token && `${origin}/reset?token=${token}`
}
