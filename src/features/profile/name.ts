import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { audit } from '../../site/audit.ts'
import { refuseProblems, textFields } from '../../site/fields.ts'
import { formAgain } from '../../site/form-again.ts'
import { leaveNotice } from '../../site/notice.ts'
import { userRecord } from '../../site/records.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { owner } from '../sign-in/owner.ts'
import { accountPage } from './profile.ts'

/** `POST /account/name`: a new name, by the rules of sign-up. */
export function changeName(router: Router<object, SiteContext>): void {
  router.post('/account/name', ...owner(), again, async (ctx) => {
    const user = ctx.auth.require(User)
    const name = textFields(ctx, 'name').name.trim()
    refuseProblems({ name: nameProblem(name) })
    user.name = name
    await entityManager(ctx).flush()
    audit(ctx, 'name changed', user)
    if (!wantsPage(ctx)) {
      ctx.body = userRecord(user)
      return
    }
    leaveNotice(ctx, 'Your name has been changed.')
    seeOther(ctx, '/account')
  })
}

const again = formAgain((ctx, errors) =>
  accountPage(ctx, { errors, typedName: textFields(ctx, 'name').name }),
)
