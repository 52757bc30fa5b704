// A whole application on MikroORM: sign-up, password sign-in, tokens and sessions. DATABASE=file.sqlite keeps the data.
//
//   npm run example examples/mikro-orm.ts
//   ADA='{"name":"Ada","email":"ada@example.com","password":"analytical","confirmPassword":"analytical"}'
//   curl -H 'Content-Type: application/json' -d "$ADA" localhost:3000/users   # "email":"ada@example.com"
//   TOKEN=$(curl -su ada@example.com:analytical -X POST localhost:3000/login | cut -d '"' -f 8)
//   curl -H "Authorization: Bearer $TOKEN" localhost:3000/me                  # "name":"Ada"
//   FORM='username=ada@example.com&password=analytical'
//   curl -c /tmp/cookies -d $FORM localhost:3000/login                        # "name":"Ada"
//   curl -b /tmp/cookies localhost:3000/me                                    # "name":"Ada"
//   curl -i localhost:3000/me                                                 # 401 Unauthorized

import { hash, randomBytes, randomUUID } from 'node:crypto'
import Router from '@koa/router'
import { defineEntity, MikroORM, p, UniqueConstraintViolationException } from '@mikro-orm/sqlite'
import bcrypt from 'bcrypt'
import Koa from 'koa'
import { type AuthContext, auth, guard, refuseCrossSite } from 'koa-authenticators'
import {
  databases,
  entityManager,
  generateToken,
  ModelAuthenticatable,
  ModelTokenAuthenticatable,
} from 'koa-authenticators/mikro-orm'
import { prepared } from 'koa-authenticators/mikro-orm/prepared'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'

const bcryptCost = 12
const month = 30 * 24 * 60 * 60 * 1000
const id = p
  .uuid()
  .primary()
  .onCreate(() => randomUUID())

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id,
    name: p.string(),
    email: p.string().unique(),
    // Hidden columns are not in JSON responses.
    passwordHash: p.string().hidden(),
  },
})

class User extends ModelAuthenticatable(UserSchema.class, {
  username: 'email',
  passwordHash: 'passwordHash',
}) {
  verify(password: string) {
    return bcrypt.compare(password, this.passwordHash)
  }

  // Takes as long as `verify`, so that the response time does not reveal whether the account exists.
  static override async verifyNobody(password: string) {
    await bcrypt.hash(password, bcryptCost)
  }
}

UserSchema.setClass(User)

const UserTokenSchema = defineEntity({
  name: 'UserToken',
  tableName: 'user_tokens',
  properties: {
    id,
    value: p.string().unique().hidden(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    expiresAt: p.datetime(),
  },
})

class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, { value: 'value', user: 'user' }) {
  get isValid() {
    return this.expiresAt.getTime() > Date.now()
  }

  // The table stores digests, so a stolen database contains no usable token.
  static override stored(token: string) {
    return hash('sha256', token)
  }
}

UserTokenSchema.setClass(UserToken)

const orm = await MikroORM.init({
  dbName: process.env.DATABASE ?? ':memory:',
  entities: [User, UserToken],
})
// A real application has migrations.
await orm.schema.update()

const router = new Router<object, AuthContext & { request: { body?: unknown } }>()

router.post('/users', async (ctx) => {
  const form = readForm(ctx.request.body)
  if (typeof form === 'string') return ctx.throw(400, form)
  const { name, email, password } = form
  const em = entityManager(ctx)
  const user = em.create(User, { name, email, passwordHash: await bcrypt.hash(password, bcryptCost) })
  try {
    await em.flush()
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      ctx.throw(409, 'There is already an account with this address.')
    throw error
  }
  ctx.status = 201
  ctx.body = user
})

/** Validates the fields of a new user. A JSON body can contain values of any type, and PostgreSQL rejects a NUL character. */
function readForm(body: unknown): string | { name: string; email: string; password: string } {
  const { name, email, password, confirmPassword } = { ...(body as Record<string, unknown>) }
  if (!isText(name) || name.trim() === '') return 'The name is empty or invalid.'
  if (!isText(email) || !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) return 'This is not an e-mail address.'
  // bcrypt ignores all bytes after the first 72.
  if (!isText(password) || password.length < 8 || Buffer.byteLength(password) > 72)
    return 'The password must have at least 8 characters and at most 72 bytes.'
  if (password !== confirmPassword) return 'The passwords did not match.'
  return { name, email, password }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 254 && !/[\p{Cc}\p{Cs}]/u.test(value)
}

router.post('/login', User.authenticator(), User.credentialsAuthenticator(), guard(User), async (ctx) => {
  const user = ctx.auth.require(User)
  if (ctx.get('authorization') === '') {
    ctx.body = user
    return
  }
  const value = generateToken()
  const expiresAt = new Date(Date.now() + month)
  const em = entityManager(ctx)
  const { id } = em.create(UserToken, { value: UserToken.stored(value), user, expiresAt })
  await em.flush()
  // The only response that contains the token.
  ctx.body = { id, value, user: { id: user.id }, expiresAt }
})

router.get('/me', UserToken.authenticator(), guard(User), (ctx) => {
  ctx.body = ctx.auth.require(User)
})

const app = new Koa()
// The key that signs the session cookie. In production, read it from the environment.
app.keys = [randomBytes(32).toString('base64url')]
// Rejects state-changing requests from other sites, such as forged forms. It must come first.
app.use(refuseCrossSite())
// Sets `ctx.session`. It must come before the session authenticator and the routes.
app.use(session({ key: 'session', maxAge: month, sameSite: 'lax' }, app))
// Sets `ctx.request.body`. It must come before the authenticators, because they read the sign-in form from the body.
app.use(bodyParser())
// Gives each request an entity manager. Only models of MikroORM need it. Without `prepared()`, all results are the same, but
// an authenticated request takes about ten times as long.
app.use(databases(orm, { lookUps: prepared() }))
// Sets `ctx.auth`. It must come before the first authenticator and guard.
app.use(auth())
// Restores the user of the session in each request.
app.use(User.sessionAuthenticator({ remember: 'signed-in' }))
// The routes must come last. They contain the other authenticators and the guards.
app.use(router.routes())
app.listen(3000, () => console.log('http://localhost:3000'))
