// A signed token (RFC 7519) with custom claims: an invitation for an e-mail address. It is valid for a week, and only at `/join`.
//
//   npm run example examples/jwt-payload.ts
//   ASK='localhost:3000/invitations?email=grace@example.com'
//   TOKEN=$(curl -sH 'Authorization: Bearer analytical-engine' -X POST $ASK | cut -d '"' -f 4)
//   curl -H "Authorization: Bearer $TOKEN" -X POST localhost:3000/join   # Welcome, grace@example.com!
//   curl -i -X POST localhost:3000/join                                  # 401 Unauthorized

import { hash, randomBytes } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth, BearerAuthenticator, guard } from 'koa-authenticators'
import { type Claims, JWTKeys, JWTPayload } from 'koa-authenticators/jwt'

class Invitation extends JWTPayload {
  static readonly lifetime = 7 * 24 * 60 * 60
  // If classes share keys, each needs its own `typ`, so that a token of one class is invalid for the others.
  static override readonly typ = 'invitation+jwt'
  readonly email: string

  constructor(email: string, expiration = new Date(Date.now() + Invitation.lifetime * 1000)) {
    super(expiration)
    this.email = email
  }

  // The signature is already verified. The types of the claims are not.
  static parse({ email }: Claims, expiration: Date) {
    return typeof email === 'string' ? new Invitation(email, expiration) : undefined
  }
}

class User {
  name = 'Ada'
}

const users = new Map([[hash('sha256', 'analytical-engine'), new User()]])

const byToken = BearerAuthenticator.from(User, (token) => users.get(hash('sha256', token)))

const keys = new JWTKeys({
  // With a random secret, all tokens become invalid when the process ends.
  secrets: [process.env.JWT_SECRET ?? randomBytes(32)],
  issuer: 'http://localhost:3000',
  audience: 'http://localhost:3000',
})

const router = new Router<object, AuthContext>()
router.post('/invitations', byToken, guard(User), async (ctx) => {
  const [email, ...others] = new URLSearchParams(ctx.querystring).getAll('email')
  if (email === undefined || others.length > 0)
    return ctx.throw(400, 'Exactly one `email` parameter is required.')
  ctx.body = { token: await keys.sign(new Invitation(email)) }
})
router.post('/join', Invitation.authenticator(keys), guard(Invitation), (ctx) => {
  ctx.body = `Welcome, ${ctx.auth.require(Invitation).email}!`
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
