import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { page, takeNotice, wantsPage } from '../../site/page.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts'
import { owner } from '../sign-in/owner.ts'

/** `GET /account/security`: what protects the account, and where to change it. */
export function security(router: Router<object, SiteContext>): void {
  router.get('/account/security', ...owner(), async (ctx) => {
    const { id, secondFactorAt, passwordChangedAt } = ctx.auth.require(User)
    const recoveryCodesLeft = secondFactorAt ? await countRecoveryCodes(entityManager(ctx), id) : 0
    if (!wantsPage(ctx)) {
      ctx.body = { totp: Boolean(secondFactorAt), recoveryCodesLeft, passkeys: [] }
      return
    }
    await page(ctx, 'security', {
      passwordChangedAt,
      secondFactorAt: secondFactorAt ?? undefined,
      isAvailable: ctx.secretBox !== undefined,
      recoveryCodesLeft,
      notice: takeNotice(ctx),
    })
  })
}
