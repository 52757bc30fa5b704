// Express 5 with passport: passport-http-bearer and passport-jwt for the API, express-session and `passport.session()` for
// the pages. The API's routes have no session in front of them. No ETags, because nobody else computes any.
import express from 'express'
import session, { type SessionData, Store } from 'express-session'
import passport from 'passport'
import { Strategy as BearerStrategy } from 'passport-http-bearer'
import { cookieSecret } from '../data.ts'
import { host, port } from './environment.ts'
import { jwtStrategy } from './jwt-strategy.ts'
import { accountPage, loginPage } from './pages.ts'
import type { Person } from './row-rules.ts'
import { endSession, saveSession, sessionUser, userByID, userByToken } from './rows-sqlite.ts'

const maxAge = 24 * 60 * 60 * 1000

class RowStore extends Store {
  override get(id: string, done: (error: unknown, session?: SessionData | null) => void): void {
    const user = sessionUser(id)
    done(null, user ? ({ cookie: { originalMaxAge: maxAge }, passport: { user } } as SessionData) : null)
  }

  override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
    saveSession(id, data)
    done?.()
  }

  override destroy(id: string, done?: (error?: unknown) => void): void {
    endSession(id)
    done?.()
  }
}

passport.use(new BearerStrategy((token, done) => done(null, userByToken(token) ?? false)))
passport.use(jwtStrategy())
passport.serializeUser<string>((user, done) => done(null, (user as Person).id))
passport.deserializeUser<string>((id, done) => done(null, userByID(id) ?? false))

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.set('trust proxy', 1)

app.get('/healthz', (_request, response) => {
  response.send('ok')
})
app.get('/me', passport.authenticate('bearer', { session: false }), (request, response) => {
  const { id, name, email } = request.user as Person
  response.json({ id, name, email })
})
app.post('/validateLoggedInUser', passport.authenticate('jwt', { session: false }), (_request, response) => {
  response.send('')
})

const pages = express.Router()
pages.use(
  session({
    store: new RowStore(),
    secret: cookieSecret,
    resave: false,
    saveUninitialized: false,
    cookie: { maxAge, secure: true, sameSite: 'lax' },
  }),
)
pages.use(passport.session())
pages.get('/account', (request, response) => {
  if (!request.isAuthenticated()) return response.redirect('/login')
  response.send(accountPage(request.user as Person))
})
pages.get('/login', (request, response) => {
  if (request.isAuthenticated()) return response.redirect('/account')
  response.send(loginPage())
})

app.use(pages)
app.listen(port, host)
