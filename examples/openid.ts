// Signs in with an identity provider, here Google. Register the callback URL http://localhost:3000/login/callback there, then:
//
//   CLIENT_ID=… CLIENT_SECRET=… npm run example examples/openid.ts
//
// Set ISSUER for another provider, such as Keycloak or Entra.

import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth, guard, refuseCrossSite, SessionAuthenticator } from 'koa-authenticators'
import * as openid from 'koa-authenticators/openid'
import session from 'koa-session'

class User {
  sessionID = ''
  name = ''
}
const users = new Map<string, User>()

const { ORIGIN = 'http://localhost:3000', ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env
const provider = new openid.OpenIDProvider({
  name: 'google',
  issuer: ISSUER ?? 'https://accounts.google.com',
  clientId: CLIENT_ID ?? '',
  clientSecret: CLIENT_SECRET,
  callbackUrl: `${ORIGIN}/login/callback`,
})
const flows = new openid.CookieFlows({ secret: randomBytes(32), secure: ORIGIN.startsWith('https:') })
// Only the issuer and the subject together identify a person. An e-mail address does not.
const byProvider = openid.ProviderAuthenticator.from(
  User,
  { provider, flows },
  ({ issuer, subject, name }) => {
    const id = `${issuer} ${subject}`
    if (!users.has(id)) users.set(id, Object.assign(new User(), { sessionID: id, name: name ?? subject }))
    return users.get(id)
  },
)

const app = new Koa({ keys: [randomBytes(32).toString('base64url')] })
app.use(refuseCrossSite())
app.use(session(app))
app.use(auth())
app.use(SessionAuthenticator.from(User, (id) => users.get(id), { remember: 'signed-in' }))

const router = new Router<object, AuthContext>()
router.get('/', (ctx) => {
  ctx.body = '<form method="post" action="/login"><button>Continue with Google</button></form>'
})
router.post('/login', openid.startFlow({ provider, flows }))
router.get('/login/callback', byProvider, guard(User), (ctx) => ctx.redirect('/account'))
router.get('/account', guard(User), (ctx) => {
  ctx.body = `The account of ${ctx.auth.require(User).name}`
})
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
