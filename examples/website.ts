// A website: sign-in form, session, password and database in one file. Open http://localhost:3000 and sign in as
// ada@example.org with the password analytical-engine.
//
//   npm run example examples/website.ts
//   curl -i localhost:3000                                                 # Location: /login
//   curl -d 'email=ada@example.org&password=wrong' localhost:3000/login    # The address or the password is wrong.
//   FORM='email=ada@example.org&password=analytical-engine'
//   curl -i -c /tmp/cookies -d $FORM localhost:3000/login                  # Location: /
//   curl -b /tmp/cookies localhost:3000                                    # Hello, ada@example.org
//   curl -i -b /tmp/cookies -c /tmp/cookies -X POST localhost:3000/logout  # Location: /login
//   curl -i -b /tmp/cookies localhost:3000                                 # Location: /login

import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Database from 'better-sqlite3'
import Koa from 'koa'
import {
  type AuthContext,
  auth,
  CredentialsAuthenticator,
  redirectUnless,
  refuseCrossSite,
  SessionAuthenticator,
} from 'koa-authenticators'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'

// The database, with one user.
type Row = { id: number; email: string; passwordHash: string }
const db = new Database(process.env.DATABASE ?? 'website.sqlite')
db.exec('create table if not exists users (id integer primary key, email text unique, passwordHash text)')
const addUser = db.prepare('insert or ignore into users (email, passwordHash) values (?, ?)')
addUser.run('ada@example.org', await bcrypt.hash('analytical-engine', 12))
const rowByEmail = async (email: string) =>
  db.prepare<[string], Row>('select * from users where email = ?').get(email)
const rowByID = async (id: string) => db.prepare<[string], Row>('select * from users where id = ?').get(id)

// `ctx.auth` stores users by class. The session stores the `sessionID`.
class User {
  readonly sessionID: string
  readonly email: string

  constructor({ id, email }: Row) {
    this.sessionID = String(id)
    this.email = email
  }
}

async function userByID(id: string) {
  const row = await rowByID(id)
  return row && new User(row)
}

// For an unknown address, compares with a dummy hash, so that the response time does not reveal who has an account.
const dummyHash = await bcrypt.hash(crypto.randomUUID(), 12)
async function userByPassword({ username, password }: { username: string; password: string }) {
  const row = await rowByEmail(username)
  const isRight = await bcrypt.compare(password, row?.passwordHash ?? dummyHash)
  return row && isRight ? new User(row) : undefined
}

// The sessions end with the process.
const sessions = new Map<string, unknown>()
// koa-session needs a store with async methods.
const store = {
  get: async (id: string) => sessions.get(id),
  set: async (id: string, data: unknown) => void sessions.set(id, data),
  destroy: async (id: string) => void sessions.delete(id),
}

const escapeHTML = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
const loginForm = (error = '') => `<!doctype html><html lang="en"><title>Sign in</title>
<form method="post"><p role="alert">${error}</p>
<label>Address <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form></html>`

const router = new Router<object, AuthContext>()
router.get('/login', (ctx) => {
  ctx.body = loginForm()
})
const form = CredentialsAuthenticator.from(User, userByPassword, { fields: { username: 'email' } })
router.post('/login', form, (ctx) => {
  if (ctx.auth.has(User)) return ctx.redirect('/')
  ctx.status = 401
  ctx.body = loginForm('The address or the password is wrong.')
})
router.post('/logout', (ctx) => {
  ctx.auth.logout(User)
  ctx.redirect('/login')
})
router.get('/', redirectUnless(User, '/login'), (ctx) => {
  ctx.body = `<!doctype html><html lang="en"><title>Account</title>
<p>Hello, ${escapeHTML(ctx.auth.require(User).email)}!</p>
<form method="post" action="/logout"><button>Sign out</button></form></html>`
})

const app = new Koa()
app.use(refuseCrossSite())
app.use(session({ maxAge: 14 * 24 * 60 * 60 * 1000, sameSite: 'lax', signed: false, store }, app))
app.use(bodyParser())
app.use(auth())
app.use(SessionAuthenticator.from(User, userByID, { remember: 'signed-in' }))
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
