// Basic authentication (RFC 7617) of hard-coded users. Every request contains the user name and the password, so it needs TLS.
//
//   npm run example examples/basic.ts
//   curl -u ada:analytical-engine -X POST localhost:3000/login   # {"name":"Ada"}
//   curl -i -u ada:wrong -X POST localhost:3000/login            # 401 Unauthorized
//   curl -i -X POST localhost:3000/login                         # 401 Unauthorized

import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, guard } from 'koa-authenticators'

class User {
  readonly name: string
  // A private field is not part of a JSON response.
  readonly #passwordHash: string

  constructor(name: string, passwordHash: string) {
    this.name = name
    this.#passwordHash = passwordHash
  }

  verify(password: string) {
    return bcrypt.compare(password, this.#passwordHash)
  }
}

const users = new Map([
  ['ada', new User('Ada', '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W')],
])
// The dummy's hash is compared for unknown names, so that the response time does not reveal which names exist.
const dummy = new User('dummy', `$2b$12$${'.'.repeat(53)}`)

const byPassword = BasicAuthenticator.from(User, async ({ username, password }) => {
  const user = users.get(username)
  const isRight = await (user ?? dummy).verify(password)
  return isRight ? user : undefined
})

const router = new Router<object, AuthContext>()
router.post('/login', byPassword, guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User)
})

const app = new Koa()
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
