// Composition: authenticators in a row are alternatives. `/me` accepts a password or a token, and `/secure` an admin or a user.
//
//   npm run example examples/composition.ts
//   curl -u ada:analytical-engine localhost:3000/me                           # Ada
//   curl -H 'Authorization: Bearer bernoulli-numbers' localhost:3000/me       # Ada
//   curl -u ada:wrong localhost:3000/me                                       # You need to sign in
//   curl -u grace:moth-in-the-relay localhost:3000/secure                     # Admin Grace
//   curl -H 'Authorization: Bearer bernoulli-numbers' localhost:3000/secure   # User Ada
//   curl localhost:3000/secure                                                # You need to sign in

import { hash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import type { AuthContext, BasicAuthorization, BearerAuthorization } from 'koa-authenticators'
import { auth, BasicAuthenticator, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  name = 'Ada'
}

class Admin {
  name = 'Grace'
}

class UserPassword extends BasicAuthenticator<User> {
  readonly user = User

  async authenticate({ username, password }: BasicAuthorization, ctx: AuthContext) {
    const isRight = await bcrypt.compare(
      password,
      '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W',
    )
    if (username === 'ada' && isRight) ctx.auth.login(new User())
  }
}

const usersByToken = new Map([[hash('sha256', 'bernoulli-numbers'), new User()]])

class UserToken extends BearerAuthenticator<User> {
  readonly user = User

  authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
    const user = usersByToken.get(hash('sha256', token))
    if (user) ctx.auth.login(user)
  }
}

class AdminPassword extends BasicAuthenticator<Admin> {
  readonly user = Admin

  async authenticate({ username, password }: BasicAuthorization, ctx: AuthContext) {
    const isRight = await bcrypt.compare(
      password,
      '$2b$12$YKUmhB7JruzslsM0/2foUerb9HiF.0hnM3kJJOom2zSrxQyh9tBMa',
    )
    if (username === 'grace' && isRight) ctx.auth.login(new Admin())
  }
}

const userPassword = new UserPassword().middleware()
const userToken = new UserToken().middleware()
const adminPassword = new AdminPassword().middleware()

const router = new Router<object, AuthContext>()
router.get('/me', userPassword, userToken, guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})
router.get('/secure', adminPassword, userPassword, userToken, (ctx) => {
  const admin = ctx.auth.get(Admin)
  // `require` throws the 401 if there is no user either.
  ctx.body = admin ? `Admin ${admin.name}` : `User ${ctx.auth.require(User).name}`
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
const server = app.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo
  console.log(`http://localhost:${port}`)
})
