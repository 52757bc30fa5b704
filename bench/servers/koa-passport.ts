// Koa with koa-passport 6: passport-http-bearer and passport-jwt for the API, koa-session and `passport.session()` for the
// pages. The API's routes have no session in front of them.
import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import Koa from 'koa'
import compose from 'koa-compose'
import passport from 'koa-passport'
import session from 'koa-session'
import { Strategy as BearerStrategy } from 'passport-http-bearer'
import { cookieSecret } from '../data.ts'
import { host, isUnsigned, port } from './environment.ts'
import { jwtStrategy } from './jwt-strategy.ts'
import { accountPage, loginPage } from './pages.ts'
import type { Person } from './row-rules.ts'
import { endSession, saveSession, sessionUser, userByID, userByToken } from './rows.ts'

passport.use(new BearerStrategy((token, done) => tell(userByToken(token), done)))
passport.use(jwtStrategy())
passport.serializeUser<string>((user, done) => done(null, (user as Person).id))
passport.deserializeUser<string>((id, done) => tell(userByID(id), done))

const app = new Koa()
if (!isUnsigned) app.keys = [cookieSecret]

const api = new Router()
api.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})
api.get('/me', passport.authenticate('bearer', { session: false }), (ctx) => {
  const { id, name, email } = ctx.state.user
  ctx.body = { id, name, email }
})
api.post('/validateLoggedInUser', passport.authenticate('jwt', { session: false }), (ctx) => {
  ctx.body = ''
})

const pages = new Router()
// One for the router, as it would be before the whole application.
pages.use(
  compose([
    session(
      {
        maxAge: 24 * 60 * 60 * 1000,
        signed: !isUnsigned,
        genid: () => randomBytes(32).toString('base64url'),
        store: {
          get: async (id) => {
            const user = await sessionUser(id)
            return user && { passport: { user } }
          },
          set: async (id, data) => saveSession(id, data),
          destroy: async (id) => endSession(id),
        },
      },
      app,
    ),
    passport.initialize(),
    passport.session(),
  ]),
)
pages.get('/account', (ctx) => {
  if (!ctx.isAuthenticated()) return ctx.redirect('/login')
  ctx.type = 'html'
  ctx.body = accountPage(ctx.state.user)
})
pages.get('/login', (ctx) => {
  if (ctx.isAuthenticated()) return ctx.redirect('/account')
  ctx.type = 'html'
  ctx.body = loginPage()
})

app.use(api.routes())
app.use(pages.routes())
app.listen(port, host)

function tell(
  user: Person | undefined | Promise<Person | undefined>,
  done: (error: unknown, user?: Person | false) => void,
): void {
  if (user instanceof Promise) user.then((found) => done(null, found ?? false), done)
  else done(null, user ?? false)
}
