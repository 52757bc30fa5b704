import type Router from '@koa/router'
import type { Next } from 'koa'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { page, seeOther, wantsPage } from '../../site/page.ts'
import { queryParameter } from '../../site/query.ts'
import type { SiteContext } from '../../site/site-context.ts'
import type { Complaint } from '../../site/views.ts'
import { afterSignIn } from '../sign-in/after-sign-in.ts'
import { asksToBeKept, completeSignIn } from '../sign-in/complete-sign-in.ts'
import type { PendingSignIns } from './pending-sign-ins.ts'
import { SecondFactorRequired } from './second-factor-required.ts'
import { methodsWithCode, verifyCode, wrongCode } from './verify-code.ts'

/** `/login/code`: the second step of a sign-in by form. */
export function signInCode(router: Router<object, SiteContext>, pendingSignIns: PendingSignIns): void {
  router.get('/login/code', async (ctx) => {
    if (await pendingSignIns.find(ctx)) return form(ctx)
    seeOther(ctx, '/login')
  })

  router.post('/login/code', formAgain(form), async (ctx) => {
    const pending = await pendingSignIns.find(ctx)
    if (!pending) return seeOther(ctx, '/login')
    const { code } = textFields(ctx, 'code')
    refuseProblems({ code: code.trim() === '' ? 'Enter the code.' : undefined })
    const isRight = await verifyCode(ctx, pending.user, code)
    if (!isRight && !wantsPage(ctx)) throw wrongCode()
    if (!isRight) {
      ctx.status = 401
      return form(ctx, [{ field: 'code', detail: wrongCode().message }])
    }
    // Another request may have finished this sign-in with another code.
    if (!(await pendingSignIns.finish(ctx, pending))) return seeOther(ctx, '/login')
    await completeSignIn(ctx, pending.user, { ...pending, methods: methodsWithCode })
  })
}

/** For `POST /login`: stores a pending sign-in and redirects to the code form, if a form needs a code. */
export function askForCode(pendingSignIns: PendingSignIns) {
  return async (ctx: SiteContext, next: Next): Promise<void> => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof SecondFactorRequired) || !wantsPage(ctx)) throw error
      const { next } = fieldsOf(ctx)
      const path = next === undefined ? undefined : afterSignIn(next)
      await pendingSignIns.start(ctx, error.user, { next: path, isKept: asksToBeKept(ctx) })
      seeOther(ctx, '/login/code')
    }
  }
}

function form(ctx: SiteContext, errors: Complaint[] = []): Promise<void> {
  return page(ctx, 'sign-in-code', { errors, isRecovery: queryParameter(ctx, 'with') === 'recovery' })
}
