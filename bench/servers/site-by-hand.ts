// Koa without an authentication library. Like the site, it has a log, security headers, static files, a cross-site check,
// problem+json and bodies of at most 16 KB. It has the routes of the site, and uses koa-session, koa-views and Eta.
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import koaViews from 'koa-views'
import { bearer, unauthorized } from './bearer-by-hand.ts'
import { host, port } from './environment.ts'
import { newIdentifier } from './identifier.ts'
import { accountView, loginView, rendered, templates } from './pages.ts'
import type { Person } from './row-rules.ts'
import { endSession, restoreSession, saveSession, userByToken } from './rows-sqlite.ts'
import {
  errorBoundary,
  refuseCrossSite,
  requestLog,
  securityHeaders,
  staticFiles,
} from './site-by-hand-middleware.ts'

// The other routes of the site. The benchmark does not request them.
const furtherPages = [
  ...['/', '/signup', '/secure', '/login/code', '/login/recovery-code', '/login/passkey', '/reset'],
  ...['/forgot', '/verify', '/confirm', '/account/sessions', '/account/tokens', '/account/password'],
  ...['/account/email', '/.well-known/change-password'],
  ...['/account/close', '/account/closed', '/account/activity', '/account/security'],
  ...['/account/security/totp', '/account/security/totp/confirm', '/account/security/recovery-codes'],
  ...['/account/passkeys', '/account/passkeys/:id/name', '/problems/:code'],
]
const furtherForms = [
  ...['/users', '/login', '/logout', '/login/code', '/login/passkey', '/reset', '/forgot', '/verify'],
  ...['/confirm', '/account/name', '/account/verification', '/account/email', '/account/email/cancel'],
  ...['/account/sessions/end-others', '/account/sessions/:id/end', '/account/tokens'],
  ...['/account/tokens/:id/revoke', '/account/password', '/account/close', '/account/security/totp'],
  ...['/account/security/totp/confirm', '/account/security/totp/remove', '/account/security/recovery-codes'],
  ...['/account/passkeys', '/account/passkeys/:id/name', '/account/passkeys/:id/remove'],
  '/validateLoggedInUser',
]

const app = new Koa({ proxy: true, maxIpsCount: 1 })
app.use(requestLog)
app.use(securityHeaders)
app.use(errorBoundary)
app.use(staticFiles)
app.use(refuseCrossSite)
app.use(bodyParser({ enableTypes: ['json', 'form'], jsonLimit: '16kb', formLimit: '16kb' }))
app.use(koaViews(templates, { extension: 'eta', engineSource: { eta: render } }))
app.use(
  session(
    {
      key: '__Host-session',
      maxAge: 24 * 60 * 60 * 1000,
      secure: true,
      sameSite: 'lax',
      // The session id has 256 random bits, so its cookie needs no signature.
      signed: false,
      genid: newIdentifier,
      store: {
        // Loads the user with the session, so that no route needs another look-up.
        get: async (id, _maxAge, { ctx }) => {
          const found = restoreSession(id)
          ctx.state.user = found?.user
          return found?.data
        },
        set: async (id, data) => saveSession(id, data),
        destroy: async (id) => endSession(id),
      },
    },
    app,
  ),
)

const router = new Router()
router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})
router.get('/me', (ctx) => {
  const token = bearer(ctx)
  const user = token ? userByToken(token) : signedIn(ctx)
  if (!user) return unauthorized(ctx)
  const { id, name, email } = user
  ctx.body = { id, name, email }
})
router.get('/account', (ctx) => {
  const user = signedIn(ctx)
  if (!user) return ctx.redirect('/login?next=%2Faccount')
  return ctx.render('profile.eta', { view: accountView(user) })
})
router.get('/login', (ctx) => {
  if (signedIn(ctx)) return ctx.redirect('/account')
  return ctx.render('sign-in.eta', { view: loginView() })
})
for (const path of furtherPages) router.get(path, (ctx) => ctx.throw(501))
for (const path of furtherForms) router.post(path, (ctx) => ctx.throw(501))

app.use(router.routes())
app.use(router.allowedMethods())
app.listen(port, host)

async function render(path: string, { view }: { view: object }): Promise<string> {
  return rendered(path.slice(templates.length + 1), view)
}

function signedIn(ctx: Context): Person | undefined {
  const { user } = ctx.state
  return user && ctx.session?.user === user.id ? user : undefined
}
