import { hash } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import type { AuthContext, BearerAuthorization } from 'koa-authenticators'
import { auth, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  name = 'Ada'
}

// The lookup is by digest, so its time tells nothing about the token.
const users = new Map([[hash('sha256', 'analytical-engine'), new User()]])

class UserBearer extends BearerAuthenticator<User> {
  readonly user = User

  authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
    const user = users.get(hash('sha256', token))
    if (user) ctx.auth.login(user)
  }
}

const router = new Router<object, AuthContext>()
router.get('/me', new UserBearer().middleware(), guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000)
