import { entityManager } from '#auth/mikro-orm'
import { freshUnlessPassword, needsPassword, proofProblem } from '../../account/fresh.ts'
import { count } from '../../account/limits.ts'
import { countMail } from '../../account/mail-limit.ts'
import { owner, signedIn } from '../../account/owner.ts'
import { cancelAddress, pendingAddress, requestAddress } from '../../account/pending-address.ts'
import type { Services } from '../../account/services.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { complete, page, seeOther, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { emailProblem } from '../../users/email.ts'
import { User } from '../../users/user.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'change-email': { needsPassword: boolean; email: string }
  }
}

/** `/account/email`: sends a link to a new address. When the link is used, `confirmNewAddress` changes the address. */
export function changeEmail(router: SiteRouter, services: Services, outbox: Outbox): void {
  const freshOrPassword = freshUnlessPassword('/account/email')

  router.get('/account/email', signedIn, freshOrPassword, (ctx) => form(ctx))

  router.post('/account/email', ...owner(services), freshOrPassword, formAgain(form), async (ctx) => {
    const user = ctx.auth.require(User)
    const { email } = textFields(ctx, 'email')
    const isCurrent = email === user.email
    refuseProblems({
      email: isCurrent ? 'This is already your e-mail address.' : emailProblem(email),
      password: await proofProblem(services, ctx),
    })
    await count(services, ctx, 'address-change', user.id)
    await countMail(services, ctx, 'change-email', email)
    await requestAddress(services, ctx, outbox, email)
    audit(ctx, 'address change requested', user, { detail: email })
    // The response does not depend on whether another account has the address.
    const detail = `We have sent a link to ${email}. It works for 24 hours.`
    if (wantsPage(ctx)) return seeOther(ctx, '/account', detail)
    ctx.status = 202
    ctx.body = { detail }
  })

  router.post('/account/email/cancel', ...owner(services), async (ctx) => {
    const user = ctx.auth.require(User)
    const email = await pendingAddress(entityManager(ctx), user)
    if (await cancelAddress(ctx)) audit(ctx, 'address change cancelled', user, { detail: email })
    complete(ctx, '/account', 'Your e-mail address stays as it is.')
  })
}

function form(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  const { email } = textFields(ctx, 'email')
  return page(ctx, 'change-email', { needsPassword: needsPassword(ctx), email, errors })
}
