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
import { pathId } from '../../site/path-id.ts'
import { pageNumber } from '../../site/query.ts'
import type { SiteRouter } from '../../site/site-context.ts'
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
// Also for ended sessions and sessions of other users.
const noSuchSession = 'You have no such session.'

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

  router.post('/account/sessions/:id/end', ...owner(services), async (ctx) => {
    const where = { id: pathId(ctx, noSuchSession), user: ctx.auth.require(User).id }
    const found = await entityManager(ctx).findOne(StoredSession, where, { populate: ['userAgent'] })
    // Ending the current session is a sign-out.
    if (found?.digest === currentDigest(ctx)) return signOut(ctx)
    const ended = found && (await changeAccount(ctx, (em) => em.nativeDelete(StoredSession, found.digest)))
    if (!ended) throw new Refusal(404, noSuchSession)
    const device = deviceName(found.userAgent)
    audit(ctx, 'session ended', ctx.auth.require(User), { detail: device })
    complete(ctx, '/account/sessions', `${device} has been signed out.`)
  })
}
