import type { Next } from 'koa'
import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { deviceName } from '../../account/devices/device-name.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { isExpired } from '../../account/sessions/session-limits.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { StoredSession } from '../../account/sessions/stored-session.ts'
import { signOut } from '../../account/sign-out.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { complete, page, takeNotice, wantsPage } from '../../site/page.ts'
import type { SessionRecord } from '../../site/records.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

/** `/account/sessions`: lists the user's sessions, and ends them. */
export function sessions(router: SiteRouter, services: Services): void {
  router.get('/account/sessions', ...owner(services), async (ctx) => {
    const found = await liveSessions(ctx, services)
    if (wantsPage(ctx)) await page(ctx, 'sessions', { sessions: found, notice: takeNotice(ctx) })
    else ctx.body = found
  })

  router.post('/account/sessions/end-others', ...owner(services), async (ctx) => {
    await changeAccount(ctx, (em, { id: user }) =>
      em.nativeDelete(StoredSession, { user, digest: { $ne: currentDigest(ctx) } }),
    )
    audit(ctx, 'other sessions ended', ctx.auth.require(User))
    complete(ctx, '/account/sessions', 'You have been signed out everywhere else.')
  })

  router.post('/account/sessions/:id/end', ...owner(services), signOutOfCurrent, async (ctx) => {
    const found = await ownSession(ctx)
    const hasEnded =
      found && (await changeAccount(ctx, (em) => em.nativeDelete(StoredSession, found.digest))) > 0
    // Ended sessions and sessions of other users get the same response.
    if (!hasEnded) throw new Refusal(404, 'You have no such session.')
    const device = deviceName(found.userAgent)
    audit(ctx, 'session ended', ctx.auth.require(User), { detail: device })
    complete(ctx, '/account/sessions', `${device} has been signed out.`)
  })
}

/** The user's sessions: the current one, then the others by last use. */
async function liveSessions(ctx: SiteContext, { uses }: Services): Promise<SessionRecord[]> {
  const { id: user } = ctx.auth.require(User)
  const found = await entityManager(ctx).find(
    StoredSession,
    { user },
    { orderBy: { id: 'desc' }, populate: ['id', 'userAgent', 'address'] },
  )
  const current = currentDigest(ctx)
  return found
    .map((session) => ({ session, seenAt: uses.sessions.of(session) ?? session.createdAt }))
    .filter(({ session: { kept, createdAt }, seenAt }) => !isExpired({ kept, createdAt, seenAt }))
    .map(({ session: { id, userAgent, address, createdAt, kept, digest }, seenAt }) => ({
      id,
      device: deviceName(userAgent),
      address: address ?? null,
      startedAt: createdAt,
      seenAt,
      kept,
      current: digest === current,
    }))
    .sort(
      (one, other) =>
        Number(other.current) - Number(one.current) || other.seenAt.getTime() - one.seenAt.getTime(),
    )
}

// Ending the current session is a sign-out.
async function signOutOfCurrent(ctx: SiteContext, next: Next) {
  const found = await ownSession(ctx)
  if (found && found.digest === currentDigest(ctx)) signOut(ctx)
  else await next()
}

/** The session in the path, if it belongs to the user. */
async function ownSession(ctx: SiteContext & { params?: { id?: string } }) {
  const { id = '' } = ctx.params ?? {}
  if (!isUUID(id)) return null
  return entityManager(ctx).findOne(
    StoredSession,
    { id: id.toLowerCase(), user: ctx.auth.require(User).id },
    { populate: ['userAgent'] },
  )
}
