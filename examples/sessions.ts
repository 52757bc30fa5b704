// Sessions (specification, "Session", and "GET /me", session variant): a bearer token starts a session, and from then on
// its cookie alone says who it is.
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

// A database, in earnest: this one forgets at every start, and never otherwise.
const sessions = new Map<string, unknown>()
// A request that was under way at a log-out saves its session when it ends: it is not to come back.
const ended = new Set<string>()

const app = new Koa()
// Another site cannot use the cookie of the session.
app.use(refuseCrossSite())
app.use(
  session(
    {
      key: 'session',
      maxAge: 2 * 60 * 60 * 1000,
      // The specification's default. A website says `true` twice: over TLS only, and out of the reach of scripts.
      secure: false,
      httpOnly: false,
      // The cookie is nothing but 256 random bits, which cannot be guessed, so it needs no signature and no `app.keys`.
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
