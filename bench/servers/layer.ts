// Our layer alone, on MikroORM, as its README and examples say; koa-session, koa-views and Eta for the pages.
import { hash, randomBytes } from 'node:crypto'
import Router from '@koa/router'
import { defineEntity, MikroORM, p } from '@mikro-orm/sqlite'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, guard, redirectUnless } from 'koa-authenticators'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { databases, ModelAuthenticatable, ModelTokenAuthenticatable } from 'koa-authenticators/mikro-orm'
import session from 'koa-session'
import koaViews from 'koa-views'
import { databasePath, host, issuer, jwtPrivateKey, jwtSecret, port } from './environment.ts'
import { accountView, eta, loginView, templates } from './pages.ts'
import { endSession, saveSession, sessionUser } from './rows.ts'

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    email: p.string().unique(),
    passwordHash: p.string().hidden(),
    passwordChangedAt: p.datetime().hidden(),
    disabledAt: p.datetime().nullable().hidden(),
  },
  filters: { enabled: { name: 'enabled', cond: { disabledAt: null }, default: true } },
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
  tableName: 'user_tokens',
  properties: {
    id: p.uuid().primary(),
    value: p.string().unique(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    expiresAt: p.datetime(),
  },
})

class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, { value: 'value', user: 'user' }) {
  get isValid() {
    return this.expiresAt.getTime() > Date.now()
  }

  static override stored(token: string) {
    return hash('sha256', token, 'base64url')
  }
}

UserTokenSchema.setClass(UserToken)

const orm = await MikroORM.init({ dbName: databasePath, entities: [User, UserToken] })
const keys = new JWTKeys({
  ...(jwtPrivateKey ? { keys: [jwtPrivateKey] } : { secrets: [jwtSecret] }),
  issuer,
  audience: issuer,
})

const app = new Koa()
app.use(databases(orm))
app.use(auth())

const api = new Router<object, AuthContext>()
api.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})
api.get('/me', UserToken.authenticator(), guard(User), (ctx) => {
  const { id, name, email } = ctx.auth.require(User)
  ctx.body = { id, name, email }
})
api.post('/validateLoggedInUser', SessionToken.authenticator(keys), guard(SessionToken), (ctx) => {
  ctx.body = ''
})

const pages = new Router<object, AuthContext>()
pages.use(
  session(
    {
      key: 'session',
      // 256 random bits that are looked up need no signature.
      signed: false,
      genid: () => randomBytes(32).toString('base64url'),
      store: {
        get: async (id) => {
          const user = sessionUser(id)
          return user && { User: user }
        },
        set: async (id, data) => saveSession(id, data),
        destroy: async (id) => endSession(id),
      },
    },
    app,
  ),
)
pages.use(koaViews(templates, { extension: 'eta', engineSource: { eta: render } }))
pages.use(User.sessionAuthenticator())
pages.get('/account', redirectUnless(User, '/login'), (ctx) => {
  const { name, email, passwordChangedAt } = ctx.auth.require(User)
  const view = accountView({ name, email, passwordChangedAt: passwordChangedAt.getTime() })
  return ctx.render('account.eta', { view })
})
pages.get('/login', (ctx) => {
  if (ctx.auth.has(User)) return ctx.redirect('/account')
  return ctx.render('login.eta', { view: loginView() })
})

app.use(api.routes())
app.use(pages.routes())
app.listen(port, host)

async function render(path: string, { view }: { view: object }): Promise<string> {
  return eta.render(path.slice(templates.length + 1), view)
}
