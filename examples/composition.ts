// Composition. Several authenticators on a route are alternatives. `/me` accepts a password or a token. `/secure` accepts an admin
// or a user.
//
//   npm run example examples/composition.ts
//   curl -u ada:analytical-engine localhost:3000/me                           # Ada
//   curl -H 'Authorization: Bearer bernoulli-numbers' localhost:3000/me       # Ada
//   curl -i -u ada:wrong localhost:3000/me                                    # 401 Unauthorized
//   curl -u grace:moth-in-the-relay localhost:3000/secure                     # Admin Grace
//   curl -H 'Authorization: Bearer bernoulli-numbers' localhost:3000/secure   # User Ada
//   curl -i localhost:3000/secure                                             # 401 Unauthorized

import { hash } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  name = 'Ada'
}

class Admin {
  name = 'Grace'
}

const userHash = '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W'
const userPassword = BasicAuthenticator.from(User, async ({ username, password }) => {
  const isRight = await bcrypt.compare(password, userHash)
  return username === 'ada' && isRight ? new User() : undefined
})

const usersByToken = new Map([[hash('sha256', 'bernoulli-numbers'), new User()]])
const userToken = BearerAuthenticator.from(User, (token) => usersByToken.get(hash('sha256', token)))

const adminHash = '$2b$12$YKUmhB7JruzslsM0/2foUerb9HiF.0hnM3kJJOom2zSrxQyh9tBMa'
const adminPassword = BasicAuthenticator.from(Admin, async ({ username, password }) => {
  const isRight = await bcrypt.compare(password, adminHash)
  return username === 'grace' && isRight ? new Admin() : undefined
})

const router = new Router<object, AuthContext>()
router.get('/me', userPassword, userToken, guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})
router.get('/secure', adminPassword, userPassword, userToken, (ctx) => {
  const admin = ctx.auth.get(Admin)
  // If there is no user either, `require` throws the 401.
  ctx.body = admin ? `Admin ${admin.name}` : `User ${ctx.auth.require(User).name}`
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
