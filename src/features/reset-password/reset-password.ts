import { entityManager } from '#auth/mikro-orm'
import { overwritePassword } from '../../account/end-access.ts'
import { limited } from '../../account/limits.ts'
import { type Notice, notify } from '../../account/notify.ts'
import { listPasskeys } from '../../account/passkeys/passkey.ts'
import type { Services } from '../../account/services.ts'
import { removeOtherWays } from '../../account/ways-to-sign-in.ts'
import { newIdentifier } from '../../database/identifier.ts'
import { minute } from '../../durations.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import type { HostCookie } from '../../site/host-cookie.ts'
import { showInvalidLinkPage, withoutReferrer } from '../../site/link-page.ts'
import { complete, page, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { listIdentities } from '../../users/linked-identity.ts'
import { consumeOneTimeToken, findOneTimeToken, type OneTimeToken } from '../../users/one-time-tokens.ts'
import { hashPassword } from '../../users/password.ts'
import { confirmationProblem, passwordProblem } from '../../users/password-problem.ts'
import { isVerified, User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    reset: Awaited<ReturnType<typeof dataOf>>
  }
}

const passwordReset: Notice = {
  subject: 'Your password was reset',
  text: 'The password of your account was reset with a link. All sessions and all API tokens have ended. Passkeys and the authenticator app, if you have any, still work.',
}

const removedNote =
  'Passkeys, authenticator app and connected accounts removed, because the address was not confirmed before'
const purposes = ['reset', 'invite'] as const

/** `/reset`: sets a new password with the token of a link. Ends all sessions, tokens and links of the account. Starts no session. */
export function resetPassword(router: SiteRouter, services: Services, resetNotice: HostCookie): void {
  const showGonePage = showInvalidLinkPage({ isReset: true })
  const showFormAgain = formAgain((ctx, errors) => form(ctx, textFields(ctx, 'token').token, errors))

  router.get('/reset', withoutReferrer, showGonePage, (ctx) => form(ctx, queryParameter(ctx, 'token')))

  router.post('/reset', withoutReferrer, showGonePage, showFormAgain, async (ctx) => {
    // Throws 503 if the session cannot be read.
    const current = ctx.auth.get(User)
    const { token, password, confirmPassword } = textFields(ctx, 'token', 'password', 'confirmPassword')
    const grant = await grantOf(ctx, token)
    const { user } = grant
    refuseProblems({
      password: passwordProblem(password, user, services.siteName),
      confirmPassword: confirmationProblem(password, confirmPassword),
    })
    // Without this limit, concurrent requests with one link would fill the queue of hashes.
    await limited(services, ctx, { action: 'reset', account: user.id }, async () => {
      // Another request may have used the link while this one waited.
      await grantOf(ctx, token)
      const passwordHash = await hashPassword(password)
      await useToken(services, ctx, token, passwordHash)
      return true
    })
    audit(ctx, 'password reset', user, { detail: provesFirst(grant) ? removedNote : undefined })
    if (current?.id === user.id) ctx.auth.logout(User)
    if (wantsPage(ctx)) resetNotice.write(ctx, newIdentifier(), minute)
    complete(ctx, '/login')
  })
}

async function form(ctx: SiteContext, token = '', errors: FormMessage[] = []): Promise<void> {
  await page(ctx, 'reset', { ...(await dataOf(ctx, token)), errors })
}

async function dataOf(ctx: SiteContext, token: string) {
  const grant = await grantOf(ctx, token)
  const { user, purpose } = grant
  const em = entityManager(ctx)
  return {
    token,
    email: user.email,
    isFirst: purpose === 'invite',
    // Whether the app, the passkeys and the connected accounts stay.
    keepsFactors: !provesFirst(grant),
    // Whether a sign-in also needs a code of an authenticator app.
    hasApp: Boolean(user.secondFactorAt),
    passkeys: (await listPasskeys(em, user.id)).map(({ name }) => name),
    identities: (await listIdentities(em, user.id)).map(({ label }) => label),
  }
}

function grantOf(ctx: SiteContext, token: string): Promise<OneTimeToken> {
  return findOneTimeToken(entityManager(ctx), token, purposes)
}

/**
 * Whether a link is the first proof that its user owns the address, because it was mailed to the address. Before that, a stranger may
 * have signed up with the address and added a passkey, an authenticator app or a connected account, so these do not outlive it (pre-hijacking).
 */
function provesFirst({ user, email }: OneTimeToken): boolean {
  return !isVerified(user) && email === user.email
}

// One transaction, because a failure must not use up the link.
function useToken(services: Services, ctx: SiteContext, token: string, passwordHash: string): Promise<void> {
  return entityManager(ctx).transactional(async (em) => {
    const grant = await consumeOneTimeToken(em, token, purposes)
    const { id, email } = grant.user
    await overwritePassword(em, { kind: 'user', entity: User, id, email }, passwordHash)
    if (provesFirst(grant)) {
      await em.nativeUpdate(User, { id }, { emailVerifiedAt: new Date() })
      await removeOtherWays(em, id)
    }
    // `grant.user` is the account before the update, so an address that this reset verifies gets no notice. This is intended,
    // because a stranger may have chosen the name in the notice.
    await notify(services, ctx, em, grant.user, passwordReset)
  })
}
