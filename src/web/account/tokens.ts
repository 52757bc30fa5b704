import type Router from '@koa/router'
import { validate as isUUID } from 'uuid'
import { entityManager } from '#auth/mikro-orm'
import { Refusal } from '../../refusal.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { issueToken, UserToken, usualDays } from '../../users/user-token.ts'
import { body, fieldsOf } from '../body.ts'
import { wantsPage } from '../face.ts'
import { limited } from '../guessing.ts'
import { seeOther } from '../see-other.ts'
import type { SiteContext } from '../site-context.ts'
import { type FieldError, type NewTokenRecord, page, type TokenRecord } from '../views.ts'
import { recorded } from '../witness.ts'
import { refuseProblems, textFields } from './fields.ts'
import { formAgain } from './form-again.ts'
import { NewToken } from './new-token.ts'
import { leaveNotice, takeNotice } from './notice.ts'
import { owner } from './owner.ts'
import { refuseIfNoLongerOwner } from './still-owner.ts'

const most = 365
const perPage = 100

/** `/account/tokens`: what programs call the API with in somebody's name. */
export function ownTokens(router: Router<object, SiteContext>, { isTls }: { isTls: boolean }): void {
  const newToken = new NewToken({ isTls })

  router.get('/account/tokens', ...owner(), async (ctx) => {
    if (wantsPage(ctx)) {
      await tokensPage(ctx, { created: await newToken.take(ctx), notice: takeNotice(ctx) })
      return
    }
    const { tokens, older } = await liveTokens(ctx)
    if (older !== undefined) ctx.set('Link', `<${older}>; rel="next"`)
    ctx.body = tokens
  })

  router.post('/account/tokens', ...owner(), body(), again, recorded('token created'), async (ctx) => {
    const user = ctx.auth.require(User)
    const wanted = { name: textFields(ctx, 'name').name.trim(), days: daysOf(ctx) }
    refuseProblems({ name: nameProblem(wanted.name), days: daysProblem(wanted.days) })
    await limited(ctx, { action: 'token', account: user.id }, async () => {
      const created = await createToken(ctx, user, wanted)
      if (wantsPage(ctx)) {
        newToken.leave(ctx, created.value)
        seeOther(ctx, '/account/tokens')
        return
      }
      ctx.status = 201
      ctx.body = created
    })
  })

  router.post('/account/tokens/:id/revoke', ...owner(), recorded('token revoked'), async (ctx) => {
    const name = await revokeToken(ctx, ctx.params.id)
    // The same for a token of somebody else, for one that has been revoked, and for one that never was.
    if (name === undefined) throw new Refusal(404, 'You have no such token.')
    if (!wantsPage(ctx)) {
      ctx.status = 204
      return
    }
    leaveNotice(ctx, `The token “${name}” has been revoked.`)
    seeOther(ctx, '/account/tokens')
  })
}

const again = formAgain((ctx, errors) => {
  const { name, days } = textFields(ctx, 'name', 'days')
  return tokensPage(ctx, { errors, values: { name, days } })
})

async function tokensPage(
  ctx: SiteContext,
  more: {
    created?: NewTokenRecord | undefined
    notice?: string | undefined
    values?: { name: string; days: string }
    errors?: FieldError[]
  },
): Promise<void> {
  await page(ctx, 'tokens', { ...(await liveTokens(ctx)), ...more })
}

/** The tokens of whoever asks, newest first, and the way to those that find no room. */
async function liveTokens(ctx: SiteContext): Promise<{ tokens: TokenRecord[]; older?: string }> {
  const { id: user } = ctx.auth.require(User)
  const { before } = ctx.query
  const found = await entityManager(ctx).find(
    UserToken,
    { user, expiresAt: { $gt: new Date() }, ...(isUUID(before) && { id: { $lt: before } }) },
    { orderBy: { id: 'desc' }, limit: perPage + 1 },
  )
  const tokens = found
    .slice(0, perPage)
    .map(({ id, name, createdAt, lastUsedAt, expiresAt }) => ({
      id,
      name,
      createdAt,
      lastUsedAt: lastUsedAt ?? null,
      expiresAt,
    }))
  return found.length > perPage ? { tokens, older: `/account/tokens?before=${tokens.at(-1)?.id}` } : { tokens }
}

// A form sends text, and a program a number; or nothing, and that will do.
function daysOf(ctx: SiteContext): unknown {
  const { days = usualDays } = fieldsOf(ctx)
  const isFromForm = Boolean(ctx.is('urlencoded')) && typeof days === 'string' && /^\d{1,3}$/.test(days)
  return isFromForm ? Number(days) : days
}
