import type { Context, Next } from 'koa'
import { body } from '../../site/body.ts'
import { fieldsOf } from '../../site/form.ts'

const readBody = body()

/**
 * Turns an answer that a provider sends as a form (`response_mode=form_post`, as Apple does) into a GET request. Browsers send no
 * `SameSite=Lax` cookies with a form of another site. It changes nothing, so it may run before the cross-site check. Only the parameters
 * that are needed become part of the URL.
 */
export function formPostAnswers(ids: readonly string[]) {
  return (ctx: Context, next: Next): unknown => {
    const [, id = ''] = /^\/login\/with\/([a-z\d-]+)\/callback$/.exec(ctx.path) ?? []
    if (ctx.method !== 'POST' || !ids.includes(id) || !ctx.is('urlencoded')) return next()
    return readBody(ctx, async () => {
      const fields = fieldsOf(ctx)
      const query = new URLSearchParams()
      for (const name of ['state', 'code', 'iss', 'error']) {
        const value = fields[name]
        if (typeof value === 'string') query.set(name, value)
      }
      ctx.status = 303
      ctx.redirect(`${ctx.path}?${query}`)
    })
  }
}
