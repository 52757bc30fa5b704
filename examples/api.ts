// An API. A client exchanges a password for a token. `/me` requires a token or a password. The database stores only hashes of both.
//
//   npm run example examples/api.ts
//   curl -u ada@example.org:analytical-engine -X POST localhost:3000/tokens        # {"token":"
//   TOKEN=$(curl -su ada@example.org:analytical-engine -X POST localhost:3000/tokens | cut -d '"' -f 4)
//   curl -H "Authorization: Bearer $TOKEN" localhost:3000/me                       # "email":"ada@example.org"
//   curl -u ada@example.org:analytical-engine localhost:3000/me                    # "email":"ada@example.org"
//   curl -i -H 'Authorization: Bearer wrong' localhost:3000/me                     # 401 Unauthorized
//   curl -i -u ada@example.org:analytical-engine -X DELETE localhost:3000/tokens   # 204 No Content
//   curl -i -H "Authorization: Bearer $TOKEN" localhost:3000/me                    # 401 Unauthorized

import { hash, randomBytes } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Database from 'better-sqlite3'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, BearerAuthenticator, guard } from 'koa-authenticators'

type Row = { id: number; email: string; passwordHash: string }
const db = new Database(process.env.DATABASE ?? 'api.sqlite')
db.exec('create table if not exists users (id integer primary key, email text unique, passwordHash text)')
db.exec('create table if not exists tokens (digest text primary key, userId integer, expiresAt integer)')
const addUser = db.prepare('insert or ignore into users (email, passwordHash) values (?, ?)')
addUser.run('ada@example.org', await bcrypt.hash('analytical-engine', 12))

class User {
  readonly id: number
  readonly email: string

  constructor({ id, email }: Row) {
    this.id = id
    this.email = email
  }
}

// For an unknown address, compares with a dummy hash, so that the response time does not reveal who has an account.
const dummyHash = await bcrypt.hash(crypto.randomUUID(), 12)
const byPassword = BasicAuthenticator.from(User, async ({ username, password }) => {
  const row = db.prepare<[string], Row>('select * from users where email = ?').get(username)
  const isRight = await bcrypt.compare(password, row?.passwordHash ?? dummyHash)
  return row && isRight ? new User(row) : undefined
})

// The database stores digests, so a stolen copy contains no usable token.
const digest = (token: string) => hash('sha256', token)
const byToken = BearerAuthenticator.from(User, (token) => {
  const row = db
    .prepare<[string, number], Row>(
      'select users.* from tokens join users on users.id = userId where digest = ? and expiresAt > ?',
    )
    .get(digest(token), Date.now())
  return row && new User(row)
})

const router = new Router<object, AuthContext>()
router.post('/tokens', byPassword, guard(User), (ctx) => {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = Date.now() + 30 * 24 * 60 * 60 * 1000
  db.prepare('insert into tokens values (?, ?, ?)').run(digest(token), ctx.auth.require(User).id, expiresAt)
  ctx.status = 201
  // The only response that contains the token.
  ctx.body = { token, expiresAt: new Date(expiresAt) }
})
router.delete('/tokens', byPassword, guard(User), (ctx) => {
  db.prepare('delete from tokens where userId = ?').run(ctx.auth.require(User).id)
  ctx.status = 204
})
router.get('/me', byToken, byPassword, guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User)
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
