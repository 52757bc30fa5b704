import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import { User } from '../../users/user.ts'
import { issueToken, UserToken } from '../../users/user-token.ts'
import { digestOf } from '../session-store.ts'
import type { SiteContext } from '../site-context.ts'
import { StoredSession } from '../stored-session.ts'

/** What is told of a token: never its value. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly expiresAt: Date
}

/** What is told of a new one, this once. */
export interface NewTokenRecord {
  readonly id: string
  readonly name: string
  readonly value: string
  readonly expiresAt: Date
}

/** The tokens of whoever asks that are good, newest first; those before that one if a token is named. */
export async function goodTokens(
  ctx: SiteContext,
  { before, most }: { before: unknown; most: number },
): Promise<TokenRecord[]> {
  const { id: user } = ctx.auth.require(User)
  const isAfterOthers = typeof before === 'string' && isUUID(before)
  const found = await entityManager(ctx).find(
    UserToken,
    { user, expiresAt: { $gt: new Date() }, ...(isAfterOthers && { id: { $lt: before } }) },
    { orderBy: { id: 'desc' }, limit: most },
  )
  return found.map(({ id, name, createdAt, lastUsedAt = null, expiresAt }) => ({
    id,
    name,
    createdAt,
    lastUsedAt,
    expiresAt,
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
    const { id } = em.create(UserToken, { name, value, user, expiresAt })
    await em.flush()
    // A slow request must not leave a token behind the end of its session, or behind a new password. From the insertion
    // on nobody else can write.
    const isUnchanged = (await em.count(User, { id: user, passwordChangedAt })) === 1
    const digest = digestOf(ctx.session.externalKey) ?? ''
    const isSignedIn = ctx.auth.credentialsSent || (await em.count(StoredSession, { digest, user })) === 1
    if (!isUnchanged || !isSignedIn)
      throw new Refusal(409, 'You have just been signed out by another request.')
    return { id, name, value: token, expiresAt }
  })
}

/** Revokes a token of whoever asks, and returns its name; nothing if they have no such token. */
export async function revokeToken(ctx: SiteContext, id: string): Promise<string | undefined> {
  if (!isUUID(id)) return undefined
  const em = entityManager(ctx)
  const found = await em.findOne(UserToken, { id, user: ctx.auth.require(User).id })
  return found && (await em.nativeDelete(UserToken, id)) > 0 ? found.name : undefined
}
