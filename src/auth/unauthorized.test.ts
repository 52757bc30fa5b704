import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import { type AuthContext, type AuthMiddleware, auth, ignoreSession } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { CredentialsAuthenticator } from './credentials.ts'
import type { AuthError } from './errors.ts'
import { guard } from './guard.ts'
import { SessionAuthenticator } from './session.ts'
import { serve } from './testing/serve.ts'

class User {
  readonly sessionID = '1'
}
class Admin {}

const basic = () =>
  BasicAuthenticator.from(User, ({ password }) => (password === 'right' ? new User() : undefined))
const bearer = () => BearerAuthenticator.from(User, (token) => (token === 'right' ? new User() : undefined))
const form = () => CredentialsAuthenticator.from(User, () => undefined)
const fromSession = () => SessionAuthenticator.from(User, () => undefined)
const header = (authorization: string) => ({ headers: { authorization } })
const wrongBasic = header(`Basic ${btoa('ada:wrong')}`)

/** The code and the message of the 401 from a route with these authenticators. */
async function refusal(
  t: TestContext,
  authenticators: AuthMiddleware[],
  init: RequestInit = {},
  type: new () => object = User,
) {
  const app = new Koa<object, AuthContext>()
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const { code, message, status } = error as AuthError
      ctx.body = { code, message, status }
    }
  })
  app.use(session({ signed: false }, app))
  app.use(bodyParser())
  app.use(auth())
  for (const each of authenticators) app.use(each)
  app.use(guard(type))
  const { url } = await serve(t, app)
  const { code, message, status } = (await (await fetch(url, init)).json()) as AuthError
  assert.equal(status, 401)
  return [code, message]
}

describe('Unauthorized', () => {
  test('reports ERR_AUTH_REQUIRED without credentials, and without an authenticator', async (t) => {
    const required = ['ERR_AUTH_REQUIRED', 'Authentication required.']
    assert.deepEqual(await refusal(t, []), required)
    assert.deepEqual(await refusal(t, [fromSession(), basic(), bearer(), form()]), required)
  })

  test('reports a wrong password, in a header and in a body', async (t) => {
    const wrong = ['ERR_AUTH_WRONG_CREDENTIALS', 'The username or password is wrong.']
    assert.deepEqual(await refusal(t, [basic(), bearer()], wrongBasic), wrong)
    const body = new URLSearchParams({ username: 'ada', password: 'wrong' })
    assert.deepEqual(await refusal(t, [fromSession(), form()], { method: 'POST', body }), wrong)
  })

  test('reports an invalid token', async (t) => {
    assert.deepEqual(await refusal(t, [basic(), bearer()], header('Bearer wrong')), [
      'ERR_AUTH_INVALID_TOKEN',
      'The token is invalid or expired.',
    ])
  })

  test('reports a malformed header', async (t) => {
    const malformed = ['ERR_AUTH_MALFORMED_HEADER', 'The `Authorization` header is malformed.']
    for (const each of ['Basic', 'Basic !', 'Bearer', 'bearer a b'])
      assert.deepEqual(await refusal(t, [basic(), bearer()], header(each)), malformed, each)
  })

  test('reports a scheme that the route does not accept', async (t) => {
    assert.deepEqual(await refusal(t, [fromSession(), basic()], header('Bearer x')), [
      'ERR_AUTH_BEARER_NOT_ACCEPTED',
      'This route does not accept bearer tokens.',
    ])
    const other = ['ERR_AUTH_SCHEME_NOT_ACCEPTED', 'This route does not accept this authorization scheme.']
    assert.deepEqual(await refusal(t, [fromSession(), bearer(), bearer()], wrongBasic), other)
    assert.deepEqual(await refusal(t, [basic(), bearer(), form()], header('Digest x')), other)
    assert.deepEqual(await refusal(t, [], wrongBasic), other)
  })

  test('reports ERR_AUTH_REQUIRED on a route that ignores the session', async (t) => {
    const onlyThisRequest: AuthMiddleware = (ctx, next) => {
      ignoreSession(ctx, User)
      return next()
    }
    assert.deepEqual(await refusal(t, [fromSession(), onlyThisRequest, basic()]), [
      'ERR_AUTH_REQUIRED',
      'Authentication required.',
    ])
  })

  test('detects the scheme of an authenticator by its challenge', async (t) => {
    class Digest extends RequestAuthenticator<User> {
      readonly user = User
      override attempt() {}
      override challenge() {
        return 'Digest realm="x"'
      }
    }
    const digest = new Digest().middleware()
    assert.deepEqual(await refusal(t, [digest], header('digest x')), [
      'ERR_AUTH_WRONG_CREDENTIALS',
      'The username or password is wrong.',
    ])
  })

  test('reports ERR_AUTH_REQUIRED for the right password of a user of another class', async (t) => {
    const right = header(`Basic ${btoa('ada:right')}`)
    assert.deepEqual(await refusal(t, [basic()], right, Admin), [
      'ERR_AUTH_REQUIRED',
      'Authentication required.',
    ])
  })
})
