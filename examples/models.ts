// Models of MikroORM: a user with a password, and tokens that are stored as digests.
//
//   npm run example examples/models.ts
//   TOKEN=$(curl -su ada@example.org:analytical-engine -X POST localhost:3000/login | cut -d '"' -f 4)
//   curl -H "Authorization: Bearer $TOKEN" localhost:3000/me                          # "email":"ada@example.org"
//   curl -i -H "Authorization: Bearer $TOKEN" -X DELETE localhost:3000/token          # 204 No Content
//   curl -i -H "Authorization: Bearer $TOKEN" localhost:3000/me                       # 401 Unauthorized

import { hash, randomUUID } from 'node:crypto'
import Router from '@koa/router'
import { defineEntity, MikroORM, p } from '@mikro-orm/sqlite'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, guard } from 'koa-authenticators'
import {
  databases,
  entityManager,
  generateToken,
  ModelAuthenticatable,
  ModelTokenAuthenticatable,
} from 'koa-authenticators/mikro-orm'
import { prepared } from 'koa-authenticators/mikro-orm/prepared'

const id = p
  .uuid()
  .primary()
  .onCreate(() => randomUUID())

const UserSchema = defineEntity({
  name: 'User',
  properties: { id, email: p.string().unique(), passwordHash: p.string().hidden() },
})
class User extends ModelAuthenticatable(UserSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  verify(password: string) {
    return bcrypt.compare(password, this.passwordHash)
  }
}
UserSchema.setClass(User)

const UserTokenSchema = defineEntity({
  name: 'UserToken',
  properties: {
    id,
    value: p.string().unique().hidden(),
    user: () => p.manyToOne(User),
    expiresAt: p.datetime(),
  },
})
class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, { value: 'value', user: 'user' }) {
  get isValid() {
    return this.expiresAt.getTime() > Date.now()
  }

  // The table stores digests, so a stolen copy contains no usable token.
  static override stored(token: string) {
    return hash('sha256', token)
  }
}
UserTokenSchema.setClass(UserToken)

const orm = await MikroORM.init({ dbName: ':memory:', entities: [User, UserToken] })
// A real application has migrations and a sign-up form.
await orm.schema.update()
const passwordHash = await bcrypt.hash('analytical-engine', 12)
await orm.em.fork().insert(User, { id: randomUUID(), email: 'ada@example.org', passwordHash })

const router = new Router<object, AuthContext>()

router.post('/login', User.authenticator(), guard(User), async (ctx) => {
  const em = entityManager(ctx)
  const token = generateToken()
  const expiresAt = new Date(Date.now() + 30 * 24 * 60 * 60 * 1000)
  em.create(UserToken, { value: UserToken.stored(token), user: ctx.auth.require(User), expiresAt })
  await em.flush()
  // The only response that contains the token.
  ctx.body = { token, expiresAt }
})

router.get('/me', UserToken.authenticator(), guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User)
})

router.delete('/token', UserToken.authenticator(), guard(UserToken), async (ctx) => {
  await entityManager(ctx).remove(ctx.auth.require(UserToken)).flush()
  ctx.status = 204
})

const app = new Koa()
// Without `prepared()`, all results are the same, but an authenticated request takes about ten times as long.
app.use(databases(orm, { lookUps: prepared() }))
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
