import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import { refuseProblems, textFields } from '../../site/fields.ts'
import { formAgain } from '../../site/form-again.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { User } from '../../users/user.ts'
import { ownPasswordProblem } from '../change-password/own-password.ts'
import { signedIn } from '../profile/profile.ts'
import { owner } from '../sign-in/owner.ts'

/** `/account/close`: the end of an account, for its password. The page wants a tick too; a program has to be explicit as it is. */
export function close(router: Router<object, SiteContext>): void {
  router.get('/account/close', signedIn, (ctx) => page(ctx, 'close-account', {}))

  router.post('/account/close', ...owner(), again, async (ctx) => {
    const user = ctx.auth.require(User)
    const { password, confirm } = textFields(ctx, 'password', 'confirm')
    const isConfirmed = confirm === 'on' || !wantsPage(ctx)
    refuseProblems({
      password: await ownPasswordProblem(ctx, password),
      confirm: isConfirmed ? undefined : 'Tick the box if you want to close your account for good.',
    })
    // Sessions, tokens and known devices go with their user: the database sees to it.
    await entityManager(ctx).nativeDelete(User, { id: user.id }, { filters: false })
    audit(ctx, 'account closed', user)
    if (!ctx.auth.credentialsSent) ctx.auth.logout(User)
    ctx.set('Clear-Site-Data', '"cache", "storage"')
    if (wantsPage(ctx)) seeOther(ctx, '/account/closed')
    else ctx.status = 204
  })

  router.get('/account/closed', (ctx) => {
    if (ctx.auth.has(User)) return seeOther(ctx, '/account')
    return page(ctx, 'account-closed', {})
  })
}

const again = formAgain((ctx, errors) => {
  const { confirm } = textFields(ctx, 'confirm')
  return page(ctx, 'close-account', { errors, isConfirmed: confirm === 'on' })
}, 'password')
