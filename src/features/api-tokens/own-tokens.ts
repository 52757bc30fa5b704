import { type EntityManager, LockMode } from '@mikro-orm/core'
import { validate as isUUID } from 'uuid'
import { entityManager, type LastUses } from '#auth/mikro-orm'
import { clockSkew } from '../../database/future-time.ts'
import { Refusal } from '../../refusal.ts'
import type { NewTokenRecord, TokenRecord } from '../../site/records.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { User } from '../../users/user.ts'
import { issueToken, UserToken } from '../../users/user-token.ts'
import { currentDigest } from '../sessions/session-store.ts'
import { StoredSession } from '../sessions/stored-session.ts'

/** The tokens of whoever asks that are good, newest first; those before that one if a token is named. */
export async function goodTokens(
  ctx: SiteContext,
  uses: LastUses<UserToken>,
  { before, most }: { before: unknown; most: number },
): Promise<TokenRecord[]> {
  const { id: user } = ctx.auth.require(User)
  const oldest = typeof before === 'string' && isUUID(before) ? before.toLowerCase() : undefined
  const found = await entityManager(ctx).find(
    UserToken,
    {
      user,
      expiresAt: { $gt: new Date() },
      createdAt: { $lte: new Date(Date.now() + clockSkew) },
      ...(oldest !== undefined && { id: { $lt: oldest } }),
    },
    { orderBy: { id: 'desc' }, limit: most },
  )
  return found.map((token) => ({
    id: token.id,
    name: token.name,
    createdAt: token.createdAt,
    lastUsedAt: uses.of(token) ?? null,
    expiresAt: token.expiresAt,
  }))
}

/** Makes a token for whoever asks, if they still may. */
export function createToken(
  ctx: SiteContext,
  { name, days }: { name: string; days: number },
): Promise<NewTokenRecord> {
  const { id: user, passwordChangedAt } = ctx.auth.require(User)
  const { token, value, expiresAt } = issueToken(Date.now(), days)
  return entityManager(ctx).transactional(async (em) => {
    // A slow request must not leave a token behind the end of its session, or behind a new password.
    const isUnchanged = await lockAccount(em, { id: user, passwordChangedAt })
    if (!isUnchanged || !(ctx.auth.credentialsSent || (await holdSession(em, ctx, user))))
      throw new Refusal(409, 'You have just been signed out by another request.')
    const { id } = em.create(UserToken, { name, value, user, expiresAt })
    await em.flush()
    return { id, name, value: token, expiresAt }
  })
}

/** Whether the session of this request goes on, at least until the end of the transaction. */
async function holdSession(em: EntityManager, ctx: SiteContext, user: string): Promise<boolean> {
  const digest = currentDigest(ctx)
  const found = await em.findOne(
    StoredSession,
    { digest, user },
    { fields: ['digest'], lockMode: LockMode.PESSIMISTIC_READ, disableIdentityMap: true },
  )
  return found !== null
}

/** Revokes a token of whoever asks, and returns its name; nothing if they have no such token. */
export async function revokeToken(ctx: SiteContext, id: string): Promise<string | undefined> {
  if (!isUUID(id)) return undefined
  const em = entityManager(ctx)
  const found = await em.findOne(UserToken, { id: id.toLowerCase(), user: ctx.auth.require(User).id })
  return found && (await em.nativeDelete(UserToken, found.value)) > 0 ? found.name : undefined
}
