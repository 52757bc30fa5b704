// The package `koa-authenticators` on MikroORM, as in its README, with koa-session and Eta for the pages. With the argument
// `em.findOne`, without `prepared()`.
import Router from '@koa/router'
import { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, auth, guard, redirectUnless } from 'koa-authenticators'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { databases, LastUses } from 'koa-authenticators/mikro-orm'
import { prepared } from 'koa-authenticators/mikro-orm/prepared'
import compose from 'koa-compose'
import session from 'koa-session'
import {
  cacheSize,
  databasePath,
  databaseURL,
  host,
  isPostgres,
  issuer,
  jwtPrivateKey,
  jwtSecret,
  poolSize,
  port,
} from './environment.ts'
import { newIdentifier } from './identifier.ts'
import { StoredSession, User, UserToken } from './layer-models.ts'
import { sessionStore } from './layer-session-store.ts'
import { accountPage, loginPage } from './pages.ts'

const orm = await openDatabase()
const keys = new JWTKeys({
  ...(jwtPrivateKey ? { keys: [jwtPrivateKey] } : { secrets: [jwtSecret] }),
  issuer,
  audience: issuer,
})

const app = new Koa()
const onError = (error: unknown) => app.emit('error', error)
const tokenUses = new LastUses(orm, UserToken, 'lastUsedAt', { onError })
const sessionUses = new LastUses(orm, StoredSession, 'seenAt', { onError })
app.use(databases(orm, process.argv[2] === 'em.findOne' ? {} : { lookUps: prepared() }))
app.use(auth())

const router = new Router<object, AuthContext>()
router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})
router.get('/me', UserToken.authenticator(), guard(User), (ctx) => {
  tokenUses.note(ctx.auth.require(UserToken))
  const { id, name, email } = ctx.auth.require(User)
  ctx.body = { id, name, email }
})
router.post('/validateLoggedInUser', SessionToken.authenticator(keys), guard(SessionToken), (ctx) => {
  ctx.body = ''
})

const forPages = compose<AuthContext & Koa.ParameterizedContext>([
  session(
    {
      key: 'session',
      // The session id has 256 random bits, so its cookie needs no signature.
      signed: false,
      genid: newIdentifier,
      store: sessionStore(orm, sessionUses),
    },
    app,
  ),
  User.sessionAuthenticator(),
])
router.get('/account', forPages, redirectUnless(User, '/login'), (ctx) => {
  const { id, name, email, passwordChangedAt } = ctx.auth.require(User)
  ctx.type = 'html'
  ctx.body = accountPage({ id, name, email, passwordChangedAt: passwordChangedAt.getTime() })
})
router.get('/login', forPages, (ctx) => {
  if (ctx.auth.has(User)) return ctx.redirect('/account')
  ctx.type = 'html'
  ctx.body = loginPage()
})

app.use(router.routes())
app.listen(port, host)

async function openDatabase(): Promise<MikroORM> {
  const entities = [User, UserToken, StoredSession]
  if (isPostgres) {
    const { PostgreSqlDriver: driver } = await import('@mikro-orm/postgresql')
    return MikroORM.init({ driver, clientUrl: databaseURL, pool: { max: poolSize }, entities })
  }
  const { SqliteDriver: driver } = await import('@mikro-orm/sqlite')
  const orm = await MikroORM.init({ driver, dbName: databasePath, entities })
  await orm.em.getConnection().execute(`pragma cache_size = -${cacheSize}`)
  return orm
}
