// Sessions in a table. A bearer token starts a session. The cookie of the session authenticates later requests.
//
//   npm run example examples/sessions.ts
//   curl -c /tmp/cookies -H 'Authorization: Bearer analytical-engine' localhost:3000/me   # Ada
//   curl -b /tmp/cookies localhost:3000/me                                                # Ada
//   curl -b /tmp/cookies -c /tmp/cookies -X POST localhost:3000/logout
//   curl -i -b /tmp/cookies localhost:3000/me                                             # 401 Unauthorized

import { hash, randomBytes } from 'node:crypto'
import Router from '@koa/router'
import Database from 'better-sqlite3'
import Koa from 'koa'
import {
  type AuthContext,
  auth,
  BearerAuthenticator,
  guard,
  refuseCrossSite,
  SessionAuthenticator,
} from 'koa-authenticators'
import session from 'koa-session'

class User {
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

const byToken = BearerAuthenticator.from(User, (token) => usersByToken.get(hash('sha256', token)))
const bySession = SessionAuthenticator.from(User, (sessionID) => usersBySessionID.get(sessionID))

// The methods of `store` must be async. `destroy` keeps the row of an ended session, without data. Otherwise, a request that runs
// during a logout would save the session again.
const db = new Database(process.env.DATABASE ?? ':memory:')
db.exec('create table if not exists sessions (id text primary key, data text, expiresAt integer)')
db.prepare('delete from sessions where expiresAt < ?').run(Date.now())
const store = {
  async get(id: string) {
    const row = db
      .prepare<[string], { data: string | null }>('select data from sessions where id = ?')
      .get(id)
    return row?.data ? JSON.parse(row.data) : undefined
  },
  async set(id: string, data: unknown, maxAge: number) {
    db.prepare(
      `insert into sessions values (?, ?, ?) on conflict (id) do update
       set data = excluded.data, expiresAt = excluded.expiresAt where sessions.data is not null`,
    ).run(id, JSON.stringify(data), Date.now() + maxAge)
  },
  async destroy(id: string) {
    db.prepare('update sessions set data = null where id = ?').run(id)
  },
}

const app = new Koa()
// Rejects state-changing requests from other sites, such as forged forms.
app.use(refuseCrossSite())
app.use(
  session(
    {
      key: 'session',
      maxAge: 2 * 60 * 60 * 1000,
      // A website sets both to `true`. Then the cookie needs TLS, and scripts cannot read it.
      secure: false,
      httpOnly: false,
      // The cookie contains 256 random bits, so it needs no signature and no `app.keys`.
      signed: false,
      genid: () => randomBytes(32).toString('base64url'),
      store,
    },
    app,
  ),
)
app.use(auth())
app.use(bySession)

const router = new Router<object, AuthContext>()
router.get('/me', byToken, guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User).name
})
router.post('/logout', (ctx) => {
  ctx.auth.logout(User)
  ctx.status = 204
})
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
