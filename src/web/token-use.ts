import type { Next } from 'koa'
import type { AuthContext } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { withoutWaiting } from '../database/without-waiting.ts'
import { UserToken } from '../users/user-token.ts'

const minute = 60_000

/**
 * Notes when a token was last used, at most once a minute. Stands behind the authenticator of tokens. If that cannot be
 * written, the answer stands, and the log says so.
 */
export function tokenUse(ctx: AuthContext, next: Next): Promise<unknown> {
  const token = ctx.auth.peek(UserToken)
  const now = Date.now()
  if (!token || now - (token.lastUsedAt?.getTime() ?? 0) < minute) return next()
  return note(ctx, token, new Date(now)).then(next)
}

async function note(ctx: AuthContext, { id }: UserToken, now: Date): Promise<void> {
  const due = [{ lastUsedAt: null }, { lastUsedAt: { $lte: new Date(now.getTime() - minute) } }]
  try {
    // Of many requests at the same time one writes.
    await withoutWaiting(() =>
      entityManager(ctx).nativeUpdate(UserToken, { id, $or: due }, { lastUsedAt: now }),
    )
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
