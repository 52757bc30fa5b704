import type { Next } from 'koa'
import type { AuthContext } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { withoutWaiting } from '../database/without-waiting.ts'
import { UserToken } from '../users/user-token.ts'

const minute = 60_000

/**
 * Notes when a token was last used, at most once a minute. Stands before every authenticator of tokens, and looks at what
 * they found when the request has been dealt with. If that cannot be written, the answer stands, and the log says so.
 */
export async function tokenUse(ctx: AuthContext, next: Next): Promise<void> {
  try {
    await next()
  } finally {
    await note(ctx)
  }
}

async function note(ctx: AuthContext): Promise<void> {
  const token = ctx.auth.peek(UserToken)
  const now = Date.now()
  if (!token || now - (token.lastUsedAt?.getTime() ?? 0) < minute) return
  const due = [{ lastUsedAt: null }, { lastUsedAt: { $lte: new Date(now - minute) } }]
  try {
    // Of many requests at the same time one writes.
    await withoutWaiting(() =>
      entityManager(ctx).nativeUpdate(UserToken, { id: token.id, $or: due }, { lastUsedAt: new Date(now) }),
    )
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
