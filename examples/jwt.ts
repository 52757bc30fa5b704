// Signed tokens (RFC 7519). A client exchanges a password for a token. The token is valid for 15 minutes, and its check needs no
// database query.
//
//   npm run example examples/jwt.ts
//   TOKEN=$(curl -su ada:analytical-engine -X POST localhost:3000/login | cut -d '"' -f 4)
//   curl -iH "Authorization: Bearer $TOKEN" -X POST localhost:3000/validateLoggedInUser   # 200 OK
//   curl -iH 'Authorization: Bearer wrong' -X POST localhost:3000/validateLoggedInUser    # 401 Unauthorized

import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, guard } from 'koa-authenticators'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'

class User {
  id = '0190a6e5-7c9b-7e42-8d2f-5a1c3b9e7f60'
}

const passwordHash = '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W'
const byPassword = BasicAuthenticator.from(User, async ({ username, password }) => {
  const isRight = await bcrypt.compare(password, passwordHash)
  return username === 'ada' && isRight ? new User() : undefined
})

const keys = new JWTKeys({
  // With a random secret, all tokens become invalid when the process ends.
  secrets: [process.env.JWT_SECRET ?? randomBytes(32)],
  issuer: 'http://localhost:3000',
  audience: 'http://localhost:3000',
})

const router = new Router<object, AuthContext>()
router.post('/login', byPassword, guard(User), async (ctx) => {
  ctx.body = { token: await keys.sign(new SessionToken(ctx.auth.require(User).id)) }
})
router.post('/validateLoggedInUser', SessionToken.authenticator(keys), guard(SessionToken), (ctx) => {
  ctx.body = ''
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
