// Bare Koa, which answers each path with a constant and asks for nothing: the ceiling of every Koa application.
import Koa from 'koa'
import { user } from '../data.ts'
import { host, port } from './environment.ts'
import { accountPage, loginPage } from './pages.ts'

const { passwordChangedAt, ...me } = user(0)
const account = accountPage({ ...me, passwordChangedAt })
const login = loginPage()

const app = new Koa()
app.use((ctx) => {
  if (ctx.path === '/healthz') ctx.body = 'ok'
  else if (ctx.path === '/me') ctx.body = me
  else if (ctx.path === '/validateLoggedInUser') ctx.body = ''
  else if (ctx.path === '/account') ctx.body = account
  else if (ctx.path === '/login') ctx.body = login
})
app.listen(port, host)
