// Koa with koa-passport 6 and passport-http-bearer.
import Router from '@koa/router'
import Koa from 'koa'
import passport from 'koa-passport'
import { Strategy as BearerStrategy } from 'passport-http-bearer'
import { host, port } from './environment.ts'
import { userByToken } from './rows-sqlite.ts'

passport.use(new BearerStrategy((token, done) => done(null, userByToken(token) ?? false)))

const router = new Router()
router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})
router.get('/me', passport.authenticate('bearer', { session: false }), (ctx) => {
  const { id, name, email } = ctx.state.user
  ctx.body = { id, name, email }
})

const app = new Koa()
app.use(router.routes())
app.listen(port, host)
