// Access tokens of an OAuth or OpenID Connect provider, such as Auth0, Keycloak or Entra (RFC 9068). The program finds the keys of the
// provider by discovery.
//
//   npm run example examples/jwt-issuer.ts
//   curl -i localhost:3000/orders                                  # 401 Unauthorized
//   curl -iH 'Authorization: Bearer wrong' localhost:3000/orders   # 401 Unauthorized

import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth, guard } from 'koa-authenticators'
import { AccessToken, JWTIssuer } from 'koa-authenticators/jwt'

const issuer = new JWTIssuer({
  issuer: process.env.ISSUER ?? 'https://login.example.com/',
  audience: 'https://api.example.com',
  // The clocks of two machines may differ by ten seconds.
  leeway: 10,
})

const router = new Router<object, AuthContext>()
router.get('/orders', AccessToken.authenticator(issuer), guard(AccessToken), (ctx) => {
  const { subject, scopes } = ctx.auth.require(AccessToken)
  if (!scopes.includes('read:orders')) return ctx.throw(403, 'The token lacks the scope `read:orders`.')
  ctx.body = `The orders of ${subject}`
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
