// Bearer tokens with `koa-authenticators/legacy`, the older variant of the package. A table stores the tokens. A request with a
// missing or unknown token gets 403.
//
//   npm run example examples/legacy.ts
//   curl -H 'Authorization: Bearer analytical-engine' localhost:3000/me      # Ada
//   curl -iH 'Authorization: Bearer difference-engine' localhost:3000/me     # 403 Forbidden
//   curl -i localhost:3000/me                                                # 403 Forbidden

import Router from '@koa/router'
import { defineEntity, MikroORM, p } from '@mikro-orm/sqlite'
import Koa from 'koa'
import { type AuthContext, auth } from 'koa-authenticators'
import { assertAuthenticated, tokenAuthentication } from 'koa-authenticators/legacy'
import { databases, entityManager } from 'koa-authenticators/mikro-orm'

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: { id: p.integer().primary(), name: p.string() },
})

const TokenSchema = defineEntity({
  name: 'Token',
  tableName: 'tokens',
  properties: {
    id: p.integer().primary(),
    token: p.string().unique(),
    user: () => p.manyToOne(User).fieldName('userId'),
  },
})

class Token extends TokenSchema.class {
  static find(token: string, ctx: AuthContext) {
    return entityManager(ctx).findOne(Token, { token }, { populate: ['user'] })
  }
}

class User extends UserSchema.class {
  static readonly TokenType = Token
}

UserSchema.setClass(User)
TokenSchema.setClass(Token)

const orm = await MikroORM.init({ dbName: ':memory:', entities: [User, Token] })
await orm.schema.create()
const em = orm.em.fork()
em.create(Token, { token: 'analytical-engine', user: em.create(User, { name: 'Ada' }) })
await em.flush()

const router = new Router<object, AuthContext>()
router.get('/me', tokenAuthentication(User), (ctx) => {
  ctx.body = assertAuthenticated(ctx, User).name
})

const app = new Koa()
app.use(databases(orm))
app.use(auth())
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
