// Bearer authentication (RFC 6750) of hard-coded users, for the whole application. `/` is public and greets users by name. `/me`
// requires a user.
//
//   npm run example examples/bearer.ts
//   curl -H 'Authorization: Bearer analytical-engine' localhost:3000/     # Hello, Ada!
//   curl localhost:3000/                                                  # Hello, stranger!
//   curl -H 'Authorization: Bearer moth-in-the-relay' localhost:3000/me   # Grace
//   curl -i -H 'Authorization: Bearer wrong' localhost:3000/me            # 401 Unauthorized

import { hash } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import type { AuthContext, BearerAuthorization } from 'koa-authenticators'
import { auth, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

// The keys of the map are SHA-256 digests, so the map contains no token, and the look-up time reveals nothing about tokens.
// `node -p "crypto.hash('sha256', 'the token')"` prints a digest. A real token needs at least 128 random bits.
const users = new Map([
  ['60f692dfae0227420bd015f053155102a6e1ccf83655fe6a060a32d721e826bd', new User('Ada')],
  ['98f9c92b5d9dfd6abd639217c2bc990df82e0f97c0cfdde203c99d76e46e8a82', new User('Grace')],
])

class UserBearer extends BearerAuthenticator<User> {
  readonly user = User

  authenticate({ token }: BearerAuthorization) {
    return users.get(hash('sha256', token))
  }
}

const router = new Router<object, AuthContext>()
router.get('/', (ctx) => {
  ctx.body = `Hello, ${ctx.auth.get(User)?.name ?? 'stranger'}!`
})
router.get('/me', guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})

const app = new Koa()
app.use(auth())
app.use(new UserBearer().middleware())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
