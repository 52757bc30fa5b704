import Koa from 'koa'
import { type AuthContext, auth, BearerAuthenticator, guard } from 'koa-authenticators'

class User {
  name = 'Ada'
}
const users = new Map([['analytical-engine', new User()]])

const app = new Koa<object, AuthContext>()
app.use(auth())
app.use(BearerAuthenticator.from(User, (token) => users.get(token)))
app.use(guard(User))
app.use((ctx) => {
  ctx.body = ctx.auth.require(User).name
})
app.listen(3000)
