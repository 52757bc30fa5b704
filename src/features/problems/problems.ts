import table from '../../problems.json' with { type: 'json' }
import { type ProblemCode, Refusal } from '../../refusal.ts'
import { page, wantsPage } from '../../site/page.ts'
import type { SiteRouter } from '../../site/site-context.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    problem: { code: string; title: string; status: number; explanation: string; advice: string }
  }
}

/** `GET /problems/:code` explains a problem. The `type` of an error response is this URL. */
export function problems(router: SiteRouter): void {
  router.get('/problems/:code', (ctx) => {
    const { code } = ctx.params
    if (!isProblemCode(code)) throw new Refusal('not_found', 'No error has this code.')
    const problem = { code, ...table[code] }
    if (wantsPage(ctx)) return page(ctx, 'problem', problem)
    ctx.body = { type: ctx.path, ...problem }
  })
}

function isProblemCode(code: string | undefined): code is ProblemCode {
  return code !== undefined && Object.hasOwn(table, code)
}
