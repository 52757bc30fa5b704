import type { ExtendableContext, Next } from 'koa'
import { FieldRefusal, TryLater } from '../refusal.ts'
import { wantsPage } from './page.ts'
import type { SiteContext } from './site-context.ts'
import type { FormMessage } from './view-data.ts'

/** The fields of the body. Each may be missing or of any type. */
export function fieldsOf({ request }: Pick<ExtendableContext, 'request'>): Record<string, unknown> {
  const { body } = request as { body?: unknown }
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** Fields of the body as text. A field that is missing or not a string is empty. */
export function textFields<Name extends string>(
  ctx: Pick<ExtendableContext, 'request'>,
  ...names: Name[]
): Record<Name, string> {
  const fields = fieldsOf(ctx)
  const texts = names.map((name) => [name, typeof fields[name] === 'string' ? fields[name] : ''])
  return Object.fromEntries(texts)
}

/** Throws a 400 with all problems, if there are any. The keys are the names of the fields. */
export function refuseProblems(problems: Record<string, string | undefined>): void {
  const errors = Object.entries(problems).flatMap(([field, detail]) =>
    detail === undefined ? [] : [{ field, detail }],
  )
  if (errors.length > 0) throw new FieldRefusal('validation_failed', errors)
}

/** Shows a page, with the errors of a rejected form. */
export type ShowPage = (ctx: SiteContext, errors: FormMessage[]) => Promise<void>

/**
 * Shows a form again with its errors and the status of the error. `TryLater` shows a warning instead of field errors. The error
 * boundary handles other errors and requests for JSON.
 */
export function formAgain(form: ShowPage) {
  return async (ctx: SiteContext, next: Next) => {
    if (!wantsPage(ctx)) return next()
    try {
      await next()
    } catch (error) {
      if (!(error instanceof FieldRefusal || error instanceof TryLater)) throw error
      ctx.status = error.status
      ctx.set(error.headers)
      const isWarning = error instanceof TryLater
      await form(ctx, isWarning ? [{ detail: error.message, isWarning }] : [...error.errors])
    }
  }
}
