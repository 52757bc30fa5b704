import type { AuthContext } from '#auth'
import { fresh, needsPassword } from '../../account/fresh.ts'
import { limited } from '../../account/limits.ts'
import {
  createToken,
  type NewTokenRecord,
  ownToken,
  revokeToken,
  type TokenRecord,
  validTokens,
} from '../../account/own-tokens.ts'
import { owner } from '../../account/owner.ts'
import type { Services } from '../../account/services.ts'
import { minute } from '../../durations.ts'
import { Refusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf, formAgain, refuseProblems, textFields } from '../../site/form.ts'
import { HostCookie } from '../../site/host-cookie.ts'
import { complete, page, seeOther, takeNotice, wantsPage } from '../../site/page.ts'
import { pathId } from '../../site/path-id.ts'
import { pageCursor, queryParameter } from '../../site/query.ts'
import type { SiteContext, SiteRouter } from '../../site/site-context.ts'
import type { Views } from '../../site/view-data.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { tokenForm, usualDays } from '../../users/user-token.ts'

declare module '../../site/view-data.ts' {
  interface PageData {
    'api-tokens': {
      tokens: TokenRecord[]
      /** The page with older tokens, if there are any. */
      older?: string | undefined
      created?: NewTokenRecord | undefined
      /** Whether the form is shown. Otherwise, a confirmation is needed first. */
      isFresh: boolean
      values?: { name: string; days: string } | undefined
    }
  }
}

const maxDays = 365
const perPage = 100
// Also for revoked tokens and tokens of other users.
const noSuchToken = 'You have no such token.'

/** `/account/tokens`: lists, creates and revokes the user's API tokens. */
export function apiTokens(router: SiteRouter, services: Services): void {
  // Passes a new token to the page that shows it once, because the database must not contain it.
  const newToken = new HostCookie('new-token', { isTls: services.isTls, values: tokenForm })
  const tokensPage = async (ctx: SiteContext, more: Partial<Views['api-tokens']>) =>
    page(ctx, 'api-tokens', { ...(await newest(ctx, services)), isFresh: !needsPassword(ctx), ...more })
  const showFormAgain = formAgain((ctx, errors) => {
    const { name, days } = textFields(ctx, 'name', 'days')
    return tokensPage(ctx, { errors, values: { name, days } })
  })

  router.get('/account/tokens', ...owner(services), async (ctx) => {
    if (wantsPage(ctx)) {
      const created = await ownToken(ctx, newToken.take(ctx))
      await tokensPage(ctx, { created, values: valuesOf(ctx), notice: takeNotice(ctx) })
      return
    }
    const { tokens, older } = await newest(ctx, services)
    // RFC 8288 §3.
    if (older) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = tokens
  })

  router.post('/account/tokens', ...owner(services), fresh(pathWithValues), showFormAgain, async (ctx) => {
    const user = ctx.auth.require(User)
    const name = textFields(ctx, 'name').name.trim()
    const days = daysOf(ctx)
    refuseProblems({ name: nameProblem(name), days: daysProblem(days) })
    await limited(services, ctx, { action: 'token', account: user.id }, async () => {
      const created = await createToken(services, ctx, { name, days })
      audit(ctx, 'token created', user, { detail: name })
      if (wantsPage(ctx)) {
        newToken.write(ctx, created.value, minute)
        seeOther(ctx, '/account/tokens')
      } else {
        ctx.status = 201
        ctx.body = created
      }
    })
  })

  router.post('/account/tokens/:id/revoke', ...owner(services), async (ctx) => {
    const name = await revokeToken(ctx, pathId(ctx, noSuchToken))
    if (name === undefined) throw new Refusal(404, noSuchToken)
    audit(ctx, 'token revoked', ctx.auth.require(User), { detail: name })
    complete(ctx, '/account/tokens', `The token “${name}” has been revoked.`)
  })
}

// Keeps the values of the form while users confirm their identity.
function pathWithValues(ctx: AuthContext): string {
  const { name, days } = textFields(ctx, 'name', 'days')
  return `/account/tokens?${new URLSearchParams({ name: name.slice(0, 100), days: days.slice(0, 3) })}`
}

function valuesOf(ctx: SiteContext): { name: string; days: string } | undefined {
  const [name, days] = [queryParameter(ctx, 'name'), queryParameter(ctx, 'days')]
  return name === undefined ? undefined : { name, days: days ?? String(usualDays) }
}

async function newest(
  ctx: SiteContext,
  { uses }: Services,
): Promise<{ tokens: TokenRecord[]; older?: string | undefined }> {
  const found = await validTokens(ctx, uses.tokens, { before: pageCursor(ctx), limit: perPage + 1 })
  const tokens = found.slice(0, perPage)
  const isMore = found.length > perPage
  return { tokens, older: isMore ? `/account/tokens?before=${tokens.at(-1)?.id}` : undefined }
}

// A form sends the number as text. JSON sends it as a number.
function daysOf(ctx: SiteContext): number {
  const { days = usualDays } = fieldsOf(ctx)
  if (typeof days === 'number') return days
  const isFromForm = Boolean(ctx.is('urlencoded')) && typeof days === 'string' && /^\d{1,3}$/.test(days)
  return isFromForm ? Number(days) : Number.NaN
}

function daysProblem(days: number): string | undefined {
  const isGood = Number.isInteger(days) && days >= 1 && days <= maxDays
  return isGood ? undefined : `\`days\` must be a whole number from 1 to ${maxDays}.`
}
