import type Router from '@koa/router'
import type { Next } from 'koa'
import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { leaveNotice, takeNotice } from '../../site/notice.ts'
import type { SessionRecord } from '../../site/records.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { User } from '../../users/user.ts'
import type { SiteUses } from '../last-uses.ts'
import { owner } from '../sign-in/owner.ts'
import { endSession } from '../sign-in/sign-out.ts'
import { deviceName } from './device-name.ts'
import { isOver } from './session-limits.ts'
import { currentDigest } from './session-store.ts'
import { StoredSession } from './stored-session.ts'

/** `/account/sessions`: where somebody is signed in, and how to end that. */
export function ownSessions(router: Router<object, SiteContext>, uses: SiteUses): void {
  router.get('/account/sessions', ...owner(), async (ctx) => {
    const sessions = await liveSessions(ctx, uses)
    if (wantsPage(ctx)) await page(ctx, 'sessions', { sessions, notice: takeNotice(ctx) })
    else ctx.body = sessions
  })

  router.post('/account/sessions/end-others', ...owner(), async (ctx) => {
    const user = ctx.auth.require(User)
    await entityManager(ctx).transactional(async (em) => {
      await lockAccount(em, { id: user.id })
      await em.nativeDelete(StoredSession, { user: user.id, digest: { $ne: currentDigest(ctx) } })
    })
    audit(ctx, 'other sessions ended', user)
    answer(ctx, 'You have been signed out everywhere else.')
  })

  router.post('/account/sessions/:id/end', ...owner(), endThisOne, async (ctx) => {
    const found = await ownSession(ctx)
    const hasEnded = found && (await entityManager(ctx).nativeDelete(StoredSession, found.digest)) > 0
    if (!hasEnded) throw noSuchSession()
    audit(ctx, 'session ended', ctx.auth.require(User))
    answer(ctx, `${deviceName(found.userAgent)} has been signed out.`)
  })
}

/** The sessions of whoever asks: this one, then the others as they were seen last. */
async function liveSessions(ctx: SiteContext, uses: SiteUses): Promise<SessionRecord[]> {
  const { id: user } = ctx.auth.require(User)
  const found = await entityManager(ctx).find(StoredSession, { user }, { orderBy: { id: 'desc' } })
  const current = currentDigest(ctx)
  return found
    .map((session) => ({ session, seenAt: uses.sessions.of(session) ?? session.createdAt }))
    .filter(({ session: { kept, createdAt }, seenAt }) => !isOver({ kept, createdAt, seenAt }))
    .map(({ session: { id, userAgent, createdAt, kept, digest }, seenAt }) => ({
      id,
      device: deviceName(userAgent),
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

// Whoever ends the session that they ask from signs out.
async function endThisOne(ctx: SiteContext, next: Next) {
  const found = await ownSession(ctx)
  if (found && found.digest === currentDigest(ctx)) endSession(ctx)
  else await next()
}

/** The session that the path names, if it is one of theirs. */
async function ownSession(ctx: SiteContext & { params?: { id?: string } }) {
  const { id = '' } = ctx.params ?? {}
  if (!isUUID(id)) return null
  return entityManager(ctx).findOne(StoredSession, { id: id.toLowerCase(), user: ctx.auth.require(User).id })
}

// The same for a session of somebody else, for one that has ended, and for one that never was.
function noSuchSession(): Refusal {
  return new Refusal(404, 'You have no such session.')
}

function answer(ctx: SiteContext, notice: string): void {
  if (wantsPage(ctx)) {
    leaveNotice(ctx, notice)
    seeOther(ctx, '/account/sessions')
  } else ctx.status = 204
}
