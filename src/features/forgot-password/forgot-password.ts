import { entityManager } from '#auth/mikro-orm'
import { count } from '../../account/limits.ts'
import { countMailTo, mayMail } from '../../account/mail-limit.ts'
import type { Services } from '../../account/services.ts'
import type { Outbox } from '../../mail/outbox.ts'
import { TryLater } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, wantsPage } from '../../site/page.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { emailProblem } from '../../users/email.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    forgot: { email: string }
    'forgot-sent': object
  }
}

/**
 * `/forgot`: mails a reset link. The handler does not look for an account. Within the rate limit, it queues a mail for every address,
 * and the outbox drops the mails to addresses without an account. So the response and its time are the same for all addresses.
 */
export function forgotPassword(router: SiteRouter, services: Services, outbox: Outbox): void {
  router.get('/forgot', (ctx) => form(ctx))

  router.post('/forgot', formAgain(form), async (ctx) => {
    const { email } = textFields(ctx, 'email')
    refuseProblems({ email: emailProblem(email) })
    await count(services, ctx, 'mail')
    if (await outbox.isFull())
      throw new TryLater(503, 'Too many mails are waiting. Please try again later.', 60)
    if (await mayMail(() => countMailTo(services, ctx, 'reset', email))) {
      await outbox.add(entityManager(ctx), { kind: 'reset', to: email })
    }
    audit(ctx, 'reset link requested', { kind: 'user', username: email })
    if (wantsPage(ctx)) return page(ctx, 'forgot-sent', {})
    ctx.status = 202
    ctx.body = { detail: 'If that address has an account, we have sent a link. It works for one hour.' }
  })
}

function form(ctx: SiteContext, errors: FormMessage[] = []): Promise<void> {
  return page(ctx, 'forgot', { email: textFields(ctx, 'email').email, errors })
}
