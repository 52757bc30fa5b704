// Roles. Only staff, only the owner of a row, only a token with a scope, and only a sign-in with a one-time code.
//
//   npm run example examples/roles.ts
//   curl -u grace:moth-in-the-relay localhost:3000/reports                        # The reports for Grace
//   curl -i -u ada:analytical-engine localhost:3000/reports                       # 403 Forbidden
//   curl -u ada:analytical-engine localhost:3000/notes/1                          # The note of Ada
//   curl -i -u grace:moth-in-the-relay localhost:3000/notes/1                     # 404 Not Found
//   curl -H 'Authorization: Bearer bernoulli-numbers' localhost:3000/orders       # The orders of Ada
//   curl -i -H 'Authorization: Bearer difference-engine' localhost:3000/orders    # 403 Forbidden
//   curl -i -u ada:analytical-engine localhost:3000/payments                      # 401 Unauthorized

import { hash } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  readonly name: string
  readonly passwordHash: string
  readonly isStaff: boolean

  constructor(name: string, passwordHash: string, isStaff: boolean) {
    this.name = name
    this.passwordHash = passwordHash
    this.isStaff = isStaff
  }
}

class Token {
  readonly user: User
  readonly scopes: readonly string[]

  constructor(user: User, scopes: readonly string[]) {
    this.user = user
    this.scopes = scopes
  }
}

const ada = new User('Ada', '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W', false)
const grace = new User('Grace', '$2b$12$YKUmhB7JruzslsM0/2foUerb9HiF.0hnM3kJJOom2zSrxQyh9tBMa', true)
const users = new Map([
  ['ada', ada],
  ['grace', grace],
])
const tokens = new Map([
  [hash('sha256', 'bernoulli-numbers'), new Token(ada, ['orders:read'])],
  [hash('sha256', 'difference-engine'), new Token(ada, [])],
])
const notes = new Map([['1', { text: 'The note of Ada', owner: ada }]])

const dummyHash = await bcrypt.hash(crypto.randomUUID(), 12)
const byPassword = BasicAuthenticator.from(User, async ({ username, password }) => {
  const user = users.get(username)
  const isRight = await bcrypt.compare(password, user?.passwordHash ?? dummyHash)
  return isRight ? user : undefined
})
const byToken = BearerAuthenticator.from(Token, (token) => tokens.get(hash('sha256', token)))

const router = new Router<object, AuthContext>()
const isStaff = guard(User, { allow: (user) => user.isStaff })
router.get('/reports', byPassword, isStaff, (ctx) => {
  ctx.body = `The reports for ${ctx.auth.require(User).name}`
})
router.get('/notes/:id', byPassword, guard(User), (ctx) => {
  const note = notes.get(String(ctx.params.id))
  // 404 and not 403, because the response must not reveal that another user has such a note.
  if (note?.owner !== ctx.auth.require(User)) return ctx.throw(404)
  ctx.body = note.text
})
const mayReadOrders = guard(Token, { allow: ({ scopes }) => scopes.includes('orders:read') })
router.get('/orders', byToken, mayReadOrders, (ctx) => {
  ctx.body = `The orders of ${ctx.auth.require(Token).user.name}`
})
// A password alone is not enough. A sign-in that has checked a code too passes `{ methods: ['pwd', 'otp', 'mfa'] }` to `login`.
router.get('/payments', byPassword, guard(User, { methods: ['otp'], fresh: '10m' }), (ctx) => {
  ctx.body = `The payments of ${ctx.auth.require(User).name}`
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
