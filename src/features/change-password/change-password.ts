import { credentialsSent } from '#auth'
import { entityManager } from '#auth/mikro-orm'
import { endAccess, passwordChanged } from '../../account/end-access.ts'
import { freshUnlessPassword } from '../../account/fresh.ts'
import { notify } from '../../account/notify.ts'
import { currentPasswordProblem, owner, signedIn } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { renewSession } from '../../account/sessions/current-session.ts'
import { currentDigest } from '../../account/sessions/session-store.ts'
import { StoredSession } from '../../account/sessions/stored-session.ts'
import { unexpired } from '../../database/expired-rows.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { changeCredentials } from '../../users/change-credentials.ts'
import { hasPassword } from '../../users/has-password.ts'
import { hashPassword } from '../../users/password.ts'
import { confirmationProblem, passwordProblem } from '../../users/password-problem.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'change-password': {
      hasPassword: boolean
      /** The number of API tokens that will be revoked. */
      tokens: number
    }
  }
}

/** `/account/password`: changes the password, and ends all other sessions and all tokens. */
export function changePassword(router: SiteRouter, services: Services): void {
  const freshOrPassword = freshUnlessPassword('/account/password')

  router.get('/account/password', signedIn, freshOrPassword, (ctx) => passwordPage(ctx))

  router.post(
    '/account/password',
    ...owner(services),
    freshOrPassword,
    formAgain(passwordPage),
    async (ctx) => {
      const user = ctx.auth.require(User)
      const typed = textFields(ctx, 'currentPassword', 'password', 'confirmPassword')
      refuseProblems({
        // An account without a password has a fresh session instead.
        currentPassword: (await hasPassword(entityManager(ctx), user.id))
          ? await currentPasswordProblem(services, ctx, typed.currentPassword)
          : undefined,
        password: passwordProblem(typed.password, user, services.siteName),
        confirmPassword: confirmationProblem(typed.password, typed.confirmPassword),
      })
      const { sessions, tokens } = await replacePassword(services, ctx, typed.password)
      // `SessionStore.start` rejects a user object with an older version.
      user.credentialsVersion += 1
      if (!credentialsSent(ctx)) {
        renewSession(ctx, user, ['pwd'])
        await services.guessing?.devices.remember(ctx, user)
      }
      audit(ctx, 'password changed', user)
      const notice = `Your password has been changed. All other sessions have been signed out${revoked(tokens)}.`
      if (wantsPage(ctx)) seeOther(ctx, '/account', notice)
      else ctx.body = { sessionsEnded: sessions, tokensRevoked: tokens }
    },
  )

  // Password managers open this path (W3C, "A Well-Known URL for Changing Passwords").
  router.get('/.well-known/change-password', (ctx) => seeOther(ctx, '/account/password'))
}

async function passwordPage(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const { id: user } = ctx.auth.require(User)
  const em = entityManager(ctx)
  await page(ctx, 'change-password', {
    hasPassword: await hasPassword(em, user),
    tokens: await em.count(UserToken, { user, ...unexpired() }),
    errors,
  })
}

// One transaction, because a new password must not leave old sessions alive.
async function replacePassword(services: Services, ctx: SiteContext, password: string) {
  const passwordHash = await hashPassword(password, { isKnownDevice: true })
  return changeAccount(ctx, async (em, user) => {
    // The time is read after the lock is acquired, because waiting for the lock may take seconds.
    await changeCredentials(em, user.id, { passwordHash, passwordChangedAt: new Date() })
    // The session of this request continues under a new identifier.
    await em.nativeDelete(StoredSession, { digest: currentDigest(ctx), user: user.id })
    await notify(services, ctx, em, user, passwordChanged)
    return endAccess(em, user.id)
  })
}

function revoked(tokens: number): string {
  if (tokens === 0) return ''
  return tokens === 1
    ? ', and one API token has been revoked'
    : `, and ${tokens} API tokens have been revoked`
}
