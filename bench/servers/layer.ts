// Our layer alone, on MikroORM, as its README and examples say; koa-session and Eta for the pages, through koa-views where
// its part is to be seen.
import Router from '@koa/router'
import { MikroORM } from '@mikro-orm/core'
import Koa from 'koa'
import { type AuthContext, auth, guard, redirectUnless } from 'koa-authenticators'
import { JWTKeys, SessionToken } from 'koa-authenticators/jwt'
import { databases, LastUses } from 'koa-authenticators/mikro-orm'
import compose from 'koa-compose'
import session from 'koa-session'
import koaViews from 'koa-views'
import { pageCacheSize } from '../../src/database/sqlite/page-cache.ts'
import { newIdentifier } from '../../src/web/new-identifier.ts'
import {
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
import { StoredSession, User, UserToken } from './layer-models.ts'
import { sessionStore } from './layer-session-store.ts'
import { accountView, loginView, rendered, templates } from './pages.ts'

const isThroughViews = process.env.KOA_VIEWS === 'on'
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
app.use(databases(orm))
app.use(auth())

if (!isThroughViews) app.context.render = renderAtOnce

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

// What several routes share is put into one, so that the router has less to put together for each request.
const forPages = compose<AuthContext & Koa.ParameterizedContext>([
  session(
    {
      key: 'session',
      // 256 random bits that are looked up need no signature.
      signed: false,
      genid: newIdentifier,
      store: sessionStore(orm, sessionUses),
    },
    app,
  ),
  ...(isThroughViews ? [koaViews(templates, { extension: 'eta', engineSource: { eta: render } })] : []),
  User.sessionAuthenticator(),
])
router.get('/account', forPages, redirectUnless(User, '/login'), (ctx) => {
  const { name, email, passwordChangedAt } = ctx.auth.require(User)
  const view = accountView({ name, email, passwordChangedAt: passwordChangedAt.getTime() })
  return ctx.render('account.eta', { view })
})
router.get('/login', forPages, (ctx) => {
  if (ctx.auth.has(User)) return ctx.redirect('/account')
  return ctx.render('login.eta', { view: loginView() })
})

app.use(router.routes())
app.listen(port, host)

async function render(path: string, { view }: { view: object }): Promise<string> {
  return rendered(path.slice(templates.length + 1), view)
}

/** What koa-views adds to the context, without a look at the disk each time. */
async function renderAtOnce(this: Koa.Context, name: string, { view }: { view: object }): Promise<void> {
  this.type = 'html'
  this.body = rendered(name, view)
}

async function openDatabase(): Promise<MikroORM> {
  const entities = [User, UserToken, StoredSession]
  if (isPostgres) {
    const { PostgreSqlDriver: driver } = await import('@mikro-orm/postgresql')
    return MikroORM.init({ driver, clientUrl: databaseURL, pool: { max: poolSize }, entities })
  }
  const { SqliteDriver: driver } = await import('@mikro-orm/sqlite')
  const orm = await MikroORM.init({ driver, dbName: databasePath, entities })
  await orm.em.getConnection().execute(`pragma cache_size = -${pageCacheSize()}`)
  return orm
}
