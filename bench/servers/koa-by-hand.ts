// Koa without an authentication library: parsed headers and prepared statements.
import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { bearer, unauthorized } from './bearer-by-hand.ts'
import { host, port } from './environment.ts'
import { accountPage, loginPage } from './pages.ts'
import type { Person } from './row-rules.ts'
import { userBySession, userByToken } from './rows.ts'
import { isValid } from './verify-by-hand.ts'

const router = new Router()

router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})

router.get('/me', async (ctx) => {
  const user = await userByToken(bearer(ctx))
  if (!user) return unauthorized(ctx)
  const { id, name, email } = user
  ctx.body = { id, name, email }
})

router.post('/validateLoggedInUser', (ctx) => {
  if (!isValid(bearer(ctx))) return unauthorized(ctx)
  ctx.body = ''
})

router.get('/account', async (ctx) => {
  const user = await sessionUser(ctx)
  if (!user) return ctx.redirect('/login?next=%2Faccount')
  ctx.type = 'html'
  ctx.body = accountPage(user)
})

router.get('/login', async (ctx) => {
  if (await sessionUser(ctx)) return ctx.redirect('/account')
  ctx.type = 'html'
  ctx.body = loginPage()
})

const app = new Koa()
app.use(router.routes())
app.listen(port, host)

function sessionUser(ctx: Context): Person | undefined | Promise<Person | undefined> {
  const id = ctx.cookies.get('session', { signed: false })
  return id === undefined ? undefined : userBySession(id)
}
