// Redirects of a website with a sign-in form and a session. `/account` redirects a visitor to a fixed path. `/orders` redirects to a
// path that contains the requested page.
//
//   npm run example examples/redirect.ts
//   curl -i localhost:3000/account                              # Location: /login?loginRequired=true
//   curl -i 'localhost:3000/orders?page=2'                      # Location: /login?next=%2Forders%3Fpage%3D2
//   LOGIN='localhost:3000/login?next=%2Forders%3Fpage%3D2'
//   curl -d 'username=ada&password=wrong' $LOGIN                # The user name or password is wrong.
//   FORM='username=ada&password=analytical-engine'
//   curl -i -c /tmp/cookies -d $FORM $LOGIN                     # Location: /orders?page=2
//   curl -b /tmp/cookies 'localhost:3000/orders?page=2'         # The orders of Ada

import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import {
  type AuthContext,
  auth,
  CredentialsAuthenticator,
  nextPath,
  redirectUnless,
  refuseCrossSite,
  SessionAuthenticator,
  withNext,
} from 'koa-authenticators'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'

class User {
  sessionID = '1'
  name = 'Ada'
}

const ada = new User()
const userByID = (id: string) => (id === ada.sessionID ? ada : undefined)
const passwordHash = '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W'
async function userByPassword({ username, password }: { username: string; password: string }) {
  const isRight = await bcrypt.compare(password, passwordHash)
  return username === 'ada' && isRight ? ada : undefined
}

const app = new Koa()
// The cookie contains the session, signed with a random key of the process. sessions.ts stores sessions on the server instead.
app.keys = [randomBytes(32).toString('base64url')]
app.use(refuseCrossSite())
app.use(session({ key: 'session', maxAge: 2 * 60 * 60 * 1000, httpOnly: true, sameSite: 'lax' }, app))
app.use(bodyParser())
app.use(auth())
app.use(SessionAuthenticator.from(User, userByID, { remember: 'signed-in' }))

// Without an `action`, a browser posts the form to the URL of the page, including `next`.
const logInForm = (sentence: string) => `<!doctype html>
<html lang="en">
<title>Log in</title>
<p role="alert">${sentence}</p>
<form method="post">
  <label>User name <input name="username" autocomplete="username" required></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <button>Log in</button>
</form>`

const router = new Router<object, AuthContext>()
router.get('/login', (ctx) => {
  if (ctx.auth.has(User)) return seeNext(ctx)
  ctx.body = logInForm(
    new URLSearchParams(ctx.querystring).has('loginRequired') ? 'Please log in first.' : '',
  )
})
router.post('/login', CredentialsAuthenticator.from(User, userByPassword), (ctx) => {
  if (ctx.auth.has(User)) return seeNext(ctx)
  ctx.status = 401
  ctx.body = logInForm('The user name or password is wrong.')
})
router.get('/account', redirectUnless(User, '/login?loginRequired=true'), (ctx) => {
  ctx.body = `The account of ${ctx.auth.require(User).name}`
})
router.get(
  '/orders',
  redirectUnless(User, (ctx) => withNext('/login', ctx)),
  (ctx) => {
    ctx.body = `The orders of ${ctx.auth.require(User).name}`
  },
)

// `nextPath` replaces the URL of another site with `/account`.
function seeNext(ctx: AuthContext) {
  ctx.status = 303
  ctx.redirect(nextPath(new URLSearchParams(ctx.querystring).get('next'), '/account'))
}

app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
