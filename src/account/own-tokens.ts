import { credentialsSent } from '#auth'
import { entityManager, type LastUses } from '#auth/mikro-orm'
import { unexpired } from '../database/expired-rows.ts'
import type { SiteContext } from '../site/site-context.ts'
import { User } from '../users/user.ts'
import { issueToken, UserToken } from '../users/user-token.ts'
import { type Notice, notify } from './notify.ts'
import type { Services } from './services.ts'
import { changeAccount } from './sessions/change-account.ts'

/** The record of a token, without its value. Tokens of older versions have no `tail`, the last four characters of the value. */
export type TokenRecord = Awaited<ReturnType<typeof validTokens>>[number]

/** The record of a new token. Its value is shown only once. */
export type NewTokenRecord = Awaited<ReturnType<typeof createToken>>

/** The user's valid tokens, newest first. `before` is the id of a token. */
export async function validTokens(
  ctx: SiteContext,
  uses: LastUses<UserToken>,
  { before, limit }: { before: string | undefined; limit: number },
) {
  const { id: user } = ctx.auth.require(User)
  const found = await entityManager(ctx).find(
    UserToken,
    { user, ...unexpired(), ...(before !== undefined && { id: { $lt: before } }) },
    { orderBy: { id: 'desc' }, limit },
  )
  return found.map((token) => ({
    id: token.id,
    name: token.name,
    tail: token.tail ?? null,
    createdAt: token.createdAt,
    lastUsedAt: uses.of(token) ?? null,
    expiresAt: token.expiresAt,
  }))
}

const tokenCreated: Notice = {
  subject: 'An API token was created',
  text: 'An API token was created in a session of your account. It works without your password until it expires. You can revoke it on the page “API tokens” of your account.',
}

/** Creates a token for the user. Throws 409 if the session has ended, or if the credentials of the account have changed. */
export function createToken(
  services: Services,
  ctx: SiteContext,
  { name, days }: { name: string; days: number },
) {
  const { token, ...columns } = issueToken(Date.now(), days)
  return changeAccount(ctx, async (em, owner) => {
    const { id } = em.create(UserToken, { name, user: owner.id, ...columns })
    await em.flush()
    // A program that sends the password has a notice of its own.
    if (!credentialsSent(ctx)) await notify(services, ctx, em, owner, tokenCreated)
    return { id, name, value: token, expiresAt: columns.expiresAt }
  })
}

/** The record of a token, if it belongs to the user. */
export async function ownToken(ctx: SiteContext, token = ''): Promise<NewTokenRecord | undefined> {
  const value = UserToken.stored(token)
  if (value === undefined) return undefined
  const { id: user } = ctx.auth.require(User)
  const found = await entityManager(ctx).findOne(UserToken, { value, user })
  return found ? { id: found.id, name: found.name, value: token, expiresAt: found.expiresAt } : undefined
}

/** Revokes a token of the user. Returns its name, or `undefined` if there is no such token. */
export function revokeToken(ctx: SiteContext, id: string): Promise<string | undefined> {
  return changeAccount(ctx, async (em, { id: user }) => {
    const found = await em.findOne(UserToken, { id, user })
    return found && (await em.nativeDelete(UserToken, found.value)) > 0 ? found.name : undefined
  })
}
