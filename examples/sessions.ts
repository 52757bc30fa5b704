// Sessions on the server: a bearer token starts a session, and its cookie authenticates the requests after it.
//
//   npm run example examples/sessions.ts
//   curl -c /tmp/cookies -H 'Authorization: Bearer analytical-engine' localhost:3000/me   # Ada
//   curl -b /tmp/cookies localhost:3000/me                                                # Ada
//   curl -b /tmp/cookies -c /tmp/cookies -X POST localhost:3000/logout
//   curl -b /tmp/cookies localhost:3000/me                                                # You need to sign in

import { hash, randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Koa from 'koa'
import type { AuthContext, BearerAuthorization, SessionAuthenticatable } from 'koa-authenticators'
import { auth, BearerAuthenticator, guard, refuseCrossSite, SessionAuthenticator } from 'koa-authenticators'
import session from 'koa-session'

class User implements SessionAuthenticatable {
  readonly sessionID: string
  readonly name: string

  constructor(sessionID: string, name: string) {
    this.sessionID = sessionID
    this.name = name
  }
}

const ada = new User('1', 'Ada')
const usersByToken = new Map([[hash('sha256', 'analytical-engine'), ada]])
const usersBySessionID = new Map([[ada.sessionID, ada]])

class UserBearer extends BearerAuthenticator<User> {
  readonly user = User

  authenticate({ token }: BearerAuthorization, ctx: AuthContext) {
    const user = usersByToken.get(hash('sha256', token))
    if (user) ctx.auth.login(user)
  }
}

class UserSession extends SessionAuthenticator<User> {
  readonly user = User

  authenticate(sessionID: string, ctx: AuthContext) {
    const user = usersBySessionID.get(sessionID)
    if (user) ctx.auth.login(user)
  }
}

// A real application has a database with expiry: this one loses the sessions at a restart, and never expires one.
const sessions = new Map<string, unknown>()
// A request that runs during a logout saves its session when it ends, which must not restore it.
const ended = new Set<string>()

const app = new Koa()
// Another site cannot use the cookie of a session.
app.use(refuseCrossSite())
app.use(
  session(
    {
      key: 'session',
      maxAge: 2 * 60 * 60 * 1000,
      // A website sets both to `true`: for TLS only, and hidden from scripts.
      secure: false,
      httpOnly: false,
      // The cookie holds 256 random bits, which need no signature and no `app.keys`.
      signed: false,
      genid: () => randomBytes(32).toString('base64url'),
      store: {
        get: async (id) => sessions.get(id),
        set: async (id, data) => void (ended.has(id) || sessions.set(id, data)),
        destroy: async (id) => void (ended.add(id) && sessions.delete(id)),
      },
    },
    app,
  ),
)
app.use(auth())
app.use(new UserSession().middleware())

const router = new Router<object, AuthContext>()
router.get('/me', new UserBearer().middleware(), guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})
router.post('/logout', (ctx) => {
  ctx.auth.logout(User)
  ctx.status = 204
})
app.use(router.routes())
const server = app.listen(process.env.PORT ?? 3000, () => {
  const { port } = server.address() as AddressInfo
  console.log(`http://localhost:${port}`)
})
