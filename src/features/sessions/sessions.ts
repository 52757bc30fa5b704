import type { Next } from 'koa'
import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { deviceName } from '../../account/devices/device-name.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { liveSessions, type SessionRecord } from '../../account/sessions/live-sessions.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { StoredSession } from '../../account/sessions/stored-session.ts'
import { signOut } from '../../account/sign-out.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { complete, page, takeNotice, wantsPage } from '../../site/page.ts'
import { pageNumber } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    sessions: {
      sessions: SessionRecord[]
      /** The number of sessions without the current one. */
      others: number
      /** The next page, if there is one. */
      older?: string | undefined
    }
  }
}

const perPage = 20

/** `/account/sessions`: lists the user's sessions, and ends them. */
export function sessions(router: SiteRouter, services: Services): void {
  router.get('/account/sessions', ...owner(services), async (ctx) => {
    const all = await liveSessions(services, ctx)
    if (!wantsPage(ctx)) {
      ctx.body = all
      return
    }
    const number = pageNumber(ctx)
    const end = number * perPage
    const others = all.filter(({ current }) => !current).length
    const older = all.length > end ? `/account/sessions?page=${number + 1}` : undefined
    const found = all.slice(end - perPage, end)
    await page(ctx, 'sessions', { sessions: found, others, older, notice: takeNotice(ctx) })
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
