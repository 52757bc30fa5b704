import type { Next } from 'koa'
import { FieldRefusal, type Refusal, TryLater } from '../refusal.ts'
import type { SiteContext } from './site-context.ts'
import type { Complaint } from './views.ts'
import { wantsPage } from './wants-page.ts'

type Form = (ctx: SiteContext, errors: Complaint[]) => Promise<void>

/**
 * On the page face, shows the form again with what is wrong with it, under the status of the refusal. The API's face is
 * the error boundary's.
 *
 * @param password the field that is to blame where it is too early to check a password
 */
export function formAgain(form: Form, password?: string) {
  return async (ctx: SiteContext, next: Next) => {
    if (!wantsPage(ctx)) return next()
    try {
      await next()
    } catch (error) {
      if (error instanceof FieldRefusal) await show(ctx, error, [...error.errors])
      else if (error instanceof TryLater) await show(ctx, error, [{ field: password, detail: error.message }])
      else throw error
    }
  }

  function show(ctx: SiteContext, { status, headers }: Refusal, errors: Complaint[]) {
    ctx.status = status
    ctx.set(headers)
    return form(ctx, errors)
  }
}
