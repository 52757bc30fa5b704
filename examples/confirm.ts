// Confirmation of a sensitive action. The page /close needs a sign-in or a confirmation in the last ten minutes.
// Later, it redirects to /confirm, and the right password leads back.
//
//   npm run example examples/confirm.ts
//   curl -i localhost:3000/close                                # Location: /login?next=%2Fclose
//   FORM='username=ada&password=analytical-engine'
//   LOGIN='localhost:3000/login?next=%2Fclose'
//   curl -i -c /tmp/cookies -d $FORM $LOGIN                     # Location: /close
//   curl -b /tmp/cookies localhost:3000/close                   # Close the account of Ada?
//   CONFIRM='localhost:3000/confirm?next=%2Fclose'
//   curl -b /tmp/cookies -d password=wrong $CONFIRM             # The password is wrong.
//   curl -i -b /tmp/cookies -c /tmp/cookies -d $FORM $CONFIRM   # Location: /close
//   curl -b /tmp/cookies -X POST localhost:3000/close           # The account of Ada is closed.

import { randomBytes } from 'node:crypto'
import Router from '@koa/router'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import {
  type AuthContext,
  auth,
  CredentialsAuthenticator,
  guard,
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
  passwordHash = '$2b$12$wF/IQZn3WhBxy6ew7Ia3geRWMugpo3hbd7ojvPOdir4VlCOHkSr6W'
}

const ada = new User()
const userByID = (id: string) => (id === ada.sessionID ? ada : undefined)
async function userByPassword({ username, password }: { username: string; password: string }) {
  const isRight = await bcrypt.compare(password, ada.passwordHash)
  return username === 'ada' && isRight ? ada : undefined
}

const app = new Koa()
app.keys = [randomBytes(32).toString('base64url')]
app.use(refuseCrossSite())
app.use(session({ key: 'session', maxAge: 14 * 24 * 60 * 60 * 1000, sameSite: 'lax' }, app))
app.use(bodyParser())
app.use(auth())
app.use(SessionAuthenticator.from(User, userByID, { remember: 'signed-in', key: 'user' }))

const page = (content: string, error = '') =>
  `<!doctype html><html lang="en"><title>Account</title><p role="alert">${error}</p>
<form method="post">${content}<button>Continue</button></form></html>`
const passwordField =
  '<label>Password <input name="password" type="password" autocomplete="current-password" required></label>'
const loginForm = `<label>User name <input name="username" autocomplete="username" required></label>${passwordField}`

const router = new Router<object, AuthContext>()
router.get('/login', (ctx) => {
  ctx.body = page(loginForm)
})
router.post('/login', CredentialsAuthenticator.from(User, userByPassword), (ctx) => {
  if (ctx.auth.has(User)) return seeNext(ctx)
  ctx.status = 401
  ctx.body = page(loginForm, 'The user name or password is wrong.')
})

const signedIn = redirectUnless(User, (ctx) => withNext('/login', ctx))
const confirmed = redirectUnless(User, (ctx) => withNext('/confirm', ctx), { fresh: '10m' })
router.get('/close', signedIn, confirmed, (ctx) => {
  ctx.body = page(`Close the account of ${ctx.auth.require(User).name}?`)
})
router.post('/close', guard(User, { fresh: '10m' }), (ctx) => {
  ctx.body = `The account of ${ctx.auth.require(User).name} is closed.`
})

router.get('/confirm', signedIn, (ctx) => {
  ctx.body = page(passwordField)
})
router.post('/confirm', signedIn, async (ctx) => {
  const user = ctx.auth.require(User)
  const { password } = ctx.request.body as Record<string, unknown>
  if (typeof password !== 'string' || !(await bcrypt.compare(password, user.passwordHash))) {
    ctx.status = 401
    ctx.body = page(passwordField, 'The password is wrong.')
    return
  }
  ctx.auth.login(user, User, { methods: ['pwd'] })
  seeNext(ctx)
})

function seeNext(ctx: AuthContext) {
  ctx.status = 303
  ctx.redirect(nextPath(new URLSearchParams(ctx.querystring).get('next'), '/'))
}

app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
