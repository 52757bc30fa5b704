import type Router from '@koa/router'
import { entityManager } from '#auth/mikro-orm'
import { nameProblem } from '../../users/person-name.ts'
import { User } from '../../users/user.ts'
import { audit } from '../audited.ts'
import { wantsPage } from '../face.ts'
import { formAgain } from '../form-again.ts'
import { userRecord } from '../records.ts'
import { seeOther } from '../see-other.ts'
import type { SiteContext } from '../site-context.ts'
import { accountPage } from './account.ts'
import { refuseProblems, textFields } from './fields.ts'
import { leaveNotice } from './notice.ts'
import { owner } from './owner.ts'

/** `POST /account/name`: a new name, by the rules of sign-up. */
export function name(router: Router<object, SiteContext>): void {
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
