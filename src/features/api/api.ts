import compose from 'koa-compose'
import { BasicAuthenticator, guard } from '#auth'
import { findAdmin } from '../../account/password-check.ts'
import type { Services } from '../../account/services.ts'
import { audit } from '../../site/audit.ts'
import type { SiteRouter } from '../../site/site-context.ts'
import { Admin } from '../../users/admin.ts'
import { SignedToken, signedTokenUser } from '../../users/signed-token.ts'
import { User, userRecord } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'

/** The routes of the API that have no page: `/me`, `/secure` and `/validateLoggedInUser`. */
export function api(router: SiteRouter, services: Services): void {
  const { keys } = services
  const signedToken = SignedToken.authenticator(keys)
  const anyToken = compose([UserToken.authenticator(), signedTokenUser(keys)])

  const admin = BasicAuthenticator.from(Admin, ({ username: email, password }, ctx) =>
    findAdmin(services, ctx, { email, password }),
  )

  router.get('/me', anyToken, guard(User), (ctx) => {
    ctx.body = userRecord(ctx.auth.require(User))
  })

  router.post('/validateLoggedInUser', signedToken, guard(SignedToken), (ctx) => {
    ctx.body = ''
  })

  router.get('/secure', admin, anyToken, (ctx) => {
    const admin = ctx.auth.get(Admin)
    if (admin) audit(ctx, 'admin used', admin)
    const { id, name } = admin ?? ctx.auth.require(User)
    ctx.body = { as: admin ? 'Admin' : 'User', id, name }
  })
}
