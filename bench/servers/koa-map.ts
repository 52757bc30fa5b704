// Koa by hand without a database: whoever a token has once been looked up for is kept in a map for good, revoked or not.
// Nobody would run this; it is how far remembering can go.
import Router from '@koa/router'
import Koa from 'koa'
import { host, port } from './environment.ts'
import { digest, type Person } from './row-rules.ts'
import { userByToken } from './rows-sqlite.ts'

const people = new Map<string, Person>()
const router = new Router()

router.get('/healthz', (ctx) => {
  ctx.body = 'ok'
})

router.get('/me', (ctx) => {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(ctx.req.headers.authorization ?? '') ?? []
  const user = people.get(digest(token)) ?? lookUp(token)
  if (user) {
    const { id, name, email } = user
    ctx.body = { id, name, email }
  } else {
    ctx.status = 401
    ctx.set('WWW-Authenticate', 'Bearer')
    ctx.body = { error: 'Unauthorized' }
  }
})

const app = new Koa()
app.use(router.routes())
app.listen(port, host)

function lookUp(token: string): Person | undefined {
  const user = userByToken(token)
  if (user) people.set(digest(token), user)
  return user
}
