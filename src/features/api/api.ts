import type Router from '@koa/router'
import compose from 'koa-compose'
import { guard } from '#auth'
import type { JWTKeys } from '#auth/jwt'
import { audit } from '../../site/audit.ts'
import { userRecord } from '../../site/records.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { Admin } from '../../users/admin.ts'
import { User } from '../../users/user.ts'
import { UserToken } from '../../users/user-token.ts'
import { tokenUse } from '../api-tokens/token-use.ts'
import { SignedToken } from '../json-web-tokens/signed-token.ts'
import { TokenUser } from '../json-web-tokens/token-user.ts'
import type { SiteUses } from '../last-uses.ts'

/** The routes that have a JSON face only. Whoever has a session passes as well as whoever sends a token. */
export function api(
  router: Router<object, SiteContext>,
  { keys, uses }: { keys: JWTKeys; uses: SiteUses },
): void {
  const signedToken = SignedToken.authenticator(keys)
  const anyToken = compose([
    UserToken.authenticator(),
    tokenUse(uses.tokens),
    signedToken,
    new TokenUser().middleware(),
  ])

  router.get('/me', anyToken, guard(User), (ctx) => {
    ctx.body = userRecord(ctx.auth.require(User))
  })

  router.post('/validateLoggedInUser', signedToken, guard(SignedToken), (ctx) => {
    ctx.body = ''
  })

  router.get('/secure', Admin.authenticator(), anyToken, (ctx) => {
    const admin = ctx.auth.get(Admin)
    if (admin) audit(ctx, 'admin used', admin)
    const { id, name } = admin ?? ctx.auth.require(User)
    ctx.body = { as: admin ? 'Admin' : 'User', id, name }
  })
}
