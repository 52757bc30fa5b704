// A custom authenticator. It reads a key from the header `X-API-Key`.
//
//   npm run example examples/api-key.ts
//   curl -H 'X-API-Key: analytical-engine' localhost:3000/me   # Ada
//   curl -i -H 'X-API-Key: wrong' localhost:3000/me            # 401 Unauthorized

import { hash } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth, guard, RequestAuthenticator } from 'koa-authenticators'

class User {
  name = 'Ada'
}

const users = new Map([[hash('sha256', 'analytical-engine'), new User()]])

class UserKey extends RequestAuthenticator<User> {
  readonly user = User

  attempt(ctx: AuthContext) {
    return users.get(hash('sha256', ctx.get('X-API-Key')))
  }
}

const router = new Router<object, AuthContext>()
router.get('/me', new UserKey().middleware(), guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
