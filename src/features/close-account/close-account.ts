import { credentialsSent } from '#auth'
import { eraseDetails } from '../../account/activity/event.ts'
import { freshUnlessPassword, needsPassword, proofProblem } from '../../account/fresh.ts'
import { type Notice, notify } from '../../account/notify.ts'
import { owner, signedIn } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { changeAccount } from '../../account/sessions/change-account.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems } from '../../site/form.ts'
import { complete, page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'close-account': { needsPassword: boolean; isConfirmed: boolean }
    'account-closed': object
  }
}

/**
 * `/account/close`: deletes the account. Requires its password, or a fresh session and a confirmation. A form always requires the
 * confirmation.
 */
export function closeAccount(router: SiteRouter, services: Services): void {
  const freshOrPassword = freshUnlessPassword('/account/close')

  router.get('/account/close', signedIn, freshOrPassword, (ctx) => form(ctx))

  router.post('/account/close', ...owner(services), freshOrPassword, formAgain(form), async (ctx) => {
    const user = ctx.auth.require(User)
    const { confirm, password } = fieldsOf(ctx)
    // Without this check, an empty JSON body with a fresh session would close the account.
    const isConfirmed = wantsPage(ctx) ? confirm === 'on' : confirm === true || password !== undefined
    refuseProblems({
      password: await proofProblem(services, ctx),
      confirm: isConfirmed ? undefined : howToConfirm(ctx),
    })
    // The foreign keys delete sessions, tokens and known devices.
    await changeAccount(ctx, async (em) => {
      await em.nativeDelete(User, { id: user.id }, { filters: false })
      await eraseDetails(em, user.id)
      await notify(services, ctx, em, user, accountClosed, { isClosed: true })
    })
    audit(ctx, 'account closed', user)
    if (!credentialsSent(ctx)) ctx.auth.logout(User)
    ctx.set('Clear-Site-Data', '"cache", "storage"')
    complete(ctx, '/account/closed')
  })

  router.get('/account/closed', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, '/account')
    return page(ctx, 'account-closed', {})
  })
}

function howToConfirm(ctx: SiteContext): string {
  return wantsPage(ctx)
    ? 'Tick the box to confirm that you want to close your account.'
    : 'Send `password`, or `"confirm": true`.'
}

const accountClosed: Notice = {
  subject: 'Your account was closed',
  text: 'Your account was closed. All sessions and API tokens have ended, and nobody can sign in to it.',
  needsOperator: true,
}

function form(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const isConfirmed = fieldsOf(ctx).confirm === 'on'
  return page(ctx, 'close-account', { needsPassword: needsPassword(ctx), isConfirmed, errors })
}
