import type { Next } from 'koa'
import { entityManager } from '#auth/mikro-orm'
import { requestedPath, withNextPath } from '../../account/after-sign-in.ts'
import { asksToBeKept, completeSignIn } from '../../account/complete-sign-in.ts'
import type { PendingSignIns } from '../../account/second-factor/pending-sign-ins.ts'
import { countRecoveryCodes, isRecoveryCode } from '../../account/second-factor/recovery-codes.ts'
import {
  plainCode,
  SecondFactorRequired,
  verifyCode,
  wrongCode,
} from '../../account/second-factor/verify-code.ts'
import { Refusal } from '../../refusal.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { FormMessage } from '../../site/view-data.ts'
import { User } from '../../users/user.ts'

/** `/login/code`: the second step of a sign-in by form. */
export function signInCode(router: SiteRouter, pendingSignIns: PendingSignIns): void {
  const showForm = (isRecovery: boolean) => async (ctx: SiteContext) => {
    const pending = await pendingSignIns.find(ctx)
    if (!pending) return startAgain(ctx)
    return page(ctx, 'sign-in-code', {
      errors: [],
      isRecovery,
      next: requestedPath(queryParameter(ctx, 'next')),
    })
  }
  router.get('/login/code', showForm(false))
  router.get('/login/recovery-code', showForm(true))

  router.post('/login/code', formAgain(formWithErrors), async (ctx) => {
    if (!wantsPage(ctx)) throw new Refusal(415, 'This route accepts a form. Send JSON with `code` to /login.')
    const pending = await pendingSignIns.find(ctx)
    if (!pending) return startAgain(ctx)
    const { code } = textFields(ctx, 'code')
    const isRecovery = fieldsOf(ctx).recovery !== undefined
    const missing = isRecovery ? 'Enter a recovery code.' : 'Enter the code of the app.'
    refuseProblems({ code: code.trim() === '' ? missing : undefined })
    if (!(await verifyCode(ctx, pending.user, code))) {
      ctx.status = 401
      const detail = isRecovery ? 'This recovery code is wrong or was used before.' : wrongCode
      return formWithErrors(ctx, [{ field: 'code', detail }])
    }
    // Another request may have finished this sign-in with another code.
    if (!(await pendingSignIns.finish(ctx, pending))) return startAgain(ctx)
    const { user, kept: isKept, methods: first } = pending
    const methods = [...(first ?? 'pwd').split(' ').filter(Boolean), 'otp', 'mfa']
    const { next } = fieldsOf(ctx)
    const notice = isRecoveryCode(plainCode(code)) ? await codesLeft(ctx, user) : undefined
    await completeSignIn(ctx, user, { isKept, next, methods, notice })
  })
}

/** For `POST /login`: if a sign-in by form needs a code, stores a pending sign-in and redirects to the code form. */
export function askForCode(pendingSignIns: PendingSignIns) {
  return async (ctx: SiteContext, next: Next): Promise<void> => {
    try {
      await next()
    } catch (error) {
      const isOfForm = error instanceof SecondFactorRequired && wantsPage(ctx) && !ctx.auth.has(User)
      if (!isOfForm) throw error
      await pendingSignIns.start(ctx, error.user, { kept: asksToBeKept(ctx) })
      // The path stays in the browser, because it may contain the token of a link, which no row may hold.
      seeOther(ctx, withNextPath('/login/code', fieldsOf(ctx).next))
    }
  }
}

async function codesLeft(ctx: SiteContext, { id }: User): Promise<string> {
  const count = await countRecoveryCodes(entityManager(ctx), id)
  if (count === 0) return 'You have used your last recovery code. Create new ones on the security page.'
  return `You have used a recovery code. Codes left: ${count}. You can replace them on the security page.`
}

function formWithErrors(ctx: SiteContext, errors: FormMessage[]): Promise<void> {
  const { next } = textFields(ctx, 'next')
  return page(ctx, 'sign-in-code', { errors, isRecovery: fieldsOf(ctx).recovery !== undefined, next })
}

// `expired` only selects a fixed message, so a link on another site can do no harm.
function startAgain(ctx: SiteContext): void {
  seeOther(ctx, withNextPath('/login?expired', textFields(ctx, 'next').next))
}
