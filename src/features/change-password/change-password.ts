import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { refuseProblems, textFields } from '../../site/fields.ts'
import { formAgain } from '../../site/form-again.ts'
import { leaveNotice } from '../../site/notice.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { lockAccount } from '../../users/lock-account.ts'
import { hashPassword } from '../../users/password.ts'
import { passwordProblem } from '../../users/password-problem.ts'
import { User } from '../../users/user.ts'
import { rememberDevice } from '../known-devices/remember-device.ts'
import { signedIn } from '../profile/profile.ts'
import { currentDigest } from '../sessions/session-store.ts'
import { StoredSession } from '../sessions/stored-session.ts'
import { owner } from '../sign-in/owner.ts'
import { endAccess } from './end-access.ts'
import { ownPasswordProblem } from './own-password.ts'

/** `/account/password`: a new password for the current one. Every other session ends with it, and every token. */
export function password(router: Router<object, SiteContext>): void {
  router.get('/account/password', signedIn, (ctx) => page(ctx, 'change-password', {}))

  router.post('/account/password', ...owner(), again, async (ctx) => {
    const user = ctx.auth.require(User)
    const typed = textFields(ctx, 'currentPassword', 'password', 'confirmPassword')
    const isConfirmed = typed.confirmPassword === typed.password
    refuseProblems({
      currentPassword: await ownPasswordProblem(ctx, typed.currentPassword),
      password: passwordProblem(typed.password, user),
      confirmPassword: isConfirmed ? undefined : 'The passwords did not match.',
    })
    const ended = await changePassword(ctx, user, typed.password)
    // The session starts anew, with the new password.
    user.passwordChangedAt = ended.at
    if (ended.ownSession) {
      ctx.auth.login(user)
      await rememberDevice(ctx, user)
    } else if (!ctx.auth.credentialsSent) ctx.auth.logout(User)
    audit(ctx, 'password changed', user)
    answer(ctx, ended)
  })

  // Where password managers look for the page (W3C, "A Well-Known URL for Changing Passwords").
  router.get('/.well-known/change-password', (ctx) => seeOther(ctx, '/account/password'))
}

const again = formAgain((ctx, errors) => page(ctx, 'change-password', { errors }), 'currentPassword')

/** What ended with the old password. */
interface Ended {
  readonly at: Date
  /** Whether the session of this request was alive until then: it goes on, under a new identifier. */
  readonly ownSession: boolean
  readonly sessions: number
  readonly tokens: number
}

// Everything or nothing: a change that ended no session would keep nobody out.
async function changePassword(ctx: SiteContext, user: User, password: string): Promise<Ended> {
  const { id, passwordChangedAt } = user
  const passwordHash = await hashPassword(password, { isKnownDevice: true })
  return entityManager(ctx).transactional(async (em) => {
    if (!(await lockAccount(em, { id, passwordChangedAt }))) throw tooLate()
    // To wait for that may have taken seconds.
    const at = new Date()
    await em.nativeUpdate(User, { id }, { passwordHash, passwordChangedAt: at })
    const digest = currentDigest(ctx)
    const ownSession = (await em.nativeDelete(StoredSession, { digest, user: id })) === 1
    return { at, ownSession, ...(await endAccess(em, id)) }
  })
}

function tooLate(): Refusal {
  return new Refusal(409, 'The password of this account has just been changed by another request.')
}

function answer(ctx: SiteContext, { ownSession, sessions, tokens }: Ended): void {
  if (!wantsPage(ctx)) {
    ctx.body = { sessionsEnded: sessions, tokensRevoked: tokens }
    return
  }
  if (ownSession)
    leaveNotice(ctx, `Your password has been changed. Everybody else has been signed out${revoked(tokens)}.`)
  seeOther(ctx, '/account')
}

function revoked(tokens: number): string {
  if (tokens === 0) return '; there was no token to revoke'
  return tokens === 1 ? ', and one token has been revoked' : `, and ${tokens} tokens have been revoked`
}
