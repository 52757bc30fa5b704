import type Router from '@koa/router'
import compose from 'koa-compose'
import { guard } from '#auth'
import type { JWTKeys } from '#auth/jwt'
import type { LastUses } from '../database/last-uses.ts'
import { Admin } from '../users/admin.ts'
import { User } from '../users/user.ts'
import { UserToken } from '../users/user-token.ts'
import { userRecord } from './records.ts'
import { SignedToken } from './signed-token.ts'
import type { SiteContext } from './site-context.ts'
import { tokenUse } from './token-use.ts'
import { TokenUser } from './token-user.ts'

/** The routes that have a JSON face only. Whoever has a session passes as well as whoever sends a token. */
export function api(
  router: Router<object, SiteContext>,
  { keys, lastUses }: { keys: JWTKeys; lastUses: LastUses },
): void {
  const signedToken = SignedToken.authenticator(keys)
  const anyToken = compose([
    UserToken.authenticator(),
    tokenUse(lastUses),
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
    const { id, name } = admin ?? ctx.auth.require(User)
    ctx.body = { as: admin ? 'Admin' : 'User', id, name }
  })
}
