import { type EntityManager, LockMode } from '@mikro-orm/core'
import { credentialsSent } from '#auth'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { currentDigest, signedOut } from './session-store.ts'
import { StoredSession } from './stored-session.ts'

/**
 * Locks the session of this request until the transaction ends, because a slow request must not change the account after a sign-out.
 * Call it with the account locked. Does nothing if the request contains credentials.
 *
 * @throws {Refusal} 409 if the session has ended
 */
export async function requireSession(em: EntityManager, ctx: SiteContext): Promise<void> {
  if (credentialsSent(ctx)) return
  const found = await em.findOne(
    StoredSession,
    { digest: currentDigest(ctx), user: ctx.auth.require(User).id },
    { fields: ['digest'], lockMode: LockMode.PESSIMISTIC_READ, disableIdentityMap: true },
  )
  if (!found) throw signedOut()
}

/**
 * Gives the session of this request a new identifier after a proof of identity (ASVS 7.2.4). The session middleware saves the session
 * after the handler.
 *
 * @param methods the methods of the proof (RFC 8176). They are added to the methods of the session
 * @param at when the user gave the proof
 */
export function renewSession(
  ctx: SiteContext,
  user: User,
  methods: readonly string[],
  at = new Date(),
): void {
  const earlier = ctx.auth.authentication(User)?.methods ?? []
  ctx.auth.login(user, User, { methods: [...new Set([...earlier, ...methods])], at })
}
