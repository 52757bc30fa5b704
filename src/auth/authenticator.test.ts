import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth } from './auth.ts'
import * as layer from './index.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

const { BasicAuthenticator, BearerAuthenticator, guard, RequestAuthenticator } = layer

describe('RequestAuthenticator', () => {
  test('throws at startup for a JavaScript class without `user`', () => {
    class Lacking extends (BasicAuthenticator as unknown as new () => { middleware(): unknown }) {}
    const misuse = {
      code: 'ERR_AUTH_MISUSE',
      message: 'Add `user = User` to Lacking: the class of its users.',
    }
    assert.throws(() => new Lacking().middleware(), misuse)
    for (const kind of [BearerAuthenticator, layer.SessionAuthenticator, RequestAuthenticator]) {
      class Other extends (kind as unknown as new () => { middleware(): unknown }) {}
      assert.throws(() => new Other().middleware(), {
        code: 'ERR_AUTH_MISUSE',
        message: /`user = User` to Other/,
      })
    }
  })

  test('throws at startup if `from` is called without the class or the function', () => {
    class User {}
    const kinds = [
      BasicAuthenticator,
      BearerAuthenticator,
      layer.CredentialsAuthenticator,
      layer.SessionAuthenticator,
    ]
    for (const kind of kinds) {
      const from = kind.from.bind(kind) as unknown as (...parameters: unknown[]) => unknown
      for (const wrong of [[() => new User()], [User], [undefined, () => new User()]])
        assert.throws(() => from(...wrong), {
          code: 'ERR_AUTH_MISUSE',
          message: 'Pass the class of the user and a function, as in `BasicAuthenticator.from(User, find)`.',
        })
    }
  })

  test('reports `middleware` without parentheses', () => {
    for (const { prototype } of [BasicAuthenticator, layer.SessionAuthenticator, RequestAuthenticator]) {
      const { middleware } = prototype as unknown as { middleware: (this: undefined) => unknown }
      assert.throws(() => middleware.call(undefined), { message: 'Call `middleware()`, with parentheses.' })
    }
  })

  test('logs in the user that `authenticate` returns, or that it has passed to `login`', async (t) => {
    class User {}
    class Returning extends BasicAuthenticator<User> {
      readonly user = User
      override authenticate({ username }: layer.BasicAuthorization, ctx: AuthContext) {
        const user = new User()
        if (username === 'returned') return user
        if (username === 'both') ctx.auth.login(user, User, { methods: ['otp'] })
        return username === 'both' ? user : undefined
      }
    }
    const { url } = await serveAuth(t, new Returning().middleware(), guard(User), (ctx) => {
      ctx.body = ctx.auth.authentication(User)?.methods
    })
    const get = (name: string) => fetch(url, { headers: { authorization: `Basic ${btoa(`${name}:x`)}` } })

    assert.deepEqual(await (await get('returned')).json(), ['pwd'])
    assert.deepEqual(await (await get('both')).json(), ['otp'])
    assert.equal((await get('nobody')).status, 401)
  })

  test('responds with 500 if an authenticator returns something else than a user', async (t) => {
    class User {}
    const returning = BearerAuthenticator.from(User, () => ({ name: 'a plain row' }))
    const { url, errors } = await serveAuth(t, returning, guard(User))

    const response = await fetch(url, { headers: { authorization: 'Bearer any' } })

    assert.deepEqual([response.status, await response.text()], [500, 'Internal Server Error'])
    assert.match(errors[0]?.message ?? '', /^The user must be an instance of User/)
  })

  test('S5 exports the `Async` classes as aliases of the same classes', () => {
    assert.equal(layer.AsyncRequestAuthenticator, layer.RequestAuthenticator)
    assert.equal(layer.AsyncBasicAuthenticator, layer.BasicAuthenticator)
    assert.equal(layer.AsyncBearerAuthenticator, layer.BearerAuthenticator)
    assert.equal(layer.AsyncCredentialsAuthenticator, layer.CredentialsAuthenticator)
    assert.equal(layer.AsyncSessionAuthenticator, layer.SessionAuthenticator)
  })

  test('S3 S45 does not reject a request: the handler runs without a user', async (t) => {
    class User {}
    class Never extends RequestAuthenticator {
      readonly user = User
      override attempt() {}
    }
    const { url } = await serveAuth(t, new Never().middleware(), (ctx) => {
      ctx.body = ctx.auth.has(User)
    })

    const response = await fetch(url)

    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'false')
  })

  test('S2 S5 can be mounted on one route, a router or the whole application', async (t) => {
    class User {}
    class AcceptsAll extends RequestAuthenticator {
      readonly user = User
      override attempt(ctx: AuthContext) {
        ctx.auth.login(new User())
      }
    }
    const answer = (ctx: AuthContext) => {
      ctx.body = ctx.auth.has(User)
    }
    const one = new Router<object, AuthContext>()
    one.get('/guarded', new AcceptsAll().middleware(), answer)
    one.get('/open', answer)
    const group = new Router<object, AuthContext>({ prefix: '/group' })
    group.use(new AcceptsAll().middleware())
    group.get('/a', answer)
    group.get('/b', answer)
    const { url } = await serveAuth(t, one, group, new AcceptsAll().middleware(), answer)
    const answers = async (...paths: string[]) =>
      Promise.all(paths.map(async (path) => (await fetch(url + path)).json()))

    assert.deepEqual(await answers('/guarded', '/open'), [true, false])
    assert.deepEqual(await answers('/group/a', '/group/b'), [true, true])
    assert.deepEqual(await answers('/', '/anything'), [true, true])
  })

  test('is skipped if a user of its class is already authenticated', async (t) => {
    class User {}
    class Admin {}
    const calls: string[] = []
    class ByPassword extends BasicAuthenticator {
      readonly user = User
      override authenticate({ username }: { username: string }, ctx: AuthContext) {
        calls.push('user by password')
        if (username === 'ada') ctx.auth.login(new User())
      }
    }
    class ByQuery extends RequestAuthenticator {
      readonly user = User
      override attempt() {
        calls.push('user by query')
      }
    }
    class AdminByPassword extends BasicAuthenticator {
      readonly user = Admin
      override authenticate() {
        calls.push('admin by password')
      }
    }
    const { url } = await serveAuth(
      t,
      new ByPassword().middleware(),
      new ByQuery().middleware(),
      new AdminByPassword().middleware(),
      (ctx) => {
        ctx.body = ctx.auth.has(User)
      },
    )

    await fetch(url, { headers: { authorization: `Basic ${btoa('ada:')}` } })
    assert.deepEqual(calls.splice(0), ['user by password', 'admin by password'])

    await fetch(url, { headers: { authorization: `Basic ${btoa('eve:')}` } })
    assert.deepEqual(calls.splice(0), ['user by password', 'user by query', 'admin by password'])

    await fetch(url)
    assert.deepEqual(calls, ['user by query'])
  })

  test('S4 S83 can be chained for one type: the guard accepts either credential and rejects a request without one', async (t) => {
    class User {
      readonly by: string
      constructor(by: string) {
        this.by = by
      }
    }
    const { url } = await serveAuth(
      t,
      BasicAuthenticator.from(User, ({ password }) => (password === 'right' ? new User('password') : null)),
      BearerAuthenticator.from(User, (token) => (token === 'right' ? new User('token') : null)),
      guard(User),
      (ctx) => {
        ctx.body = ctx.auth.require(User).by
      },
    )
    const answer = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers })
      return response.ok ? response.text() : response.status
    }

    assert.equal(await answer({ authorization: `Basic ${btoa('ada:right')}` }), 'password')
    assert.equal(await answer({ authorization: 'Bearer right' }), 'token')
    assert.equal(await answer({ authorization: `Basic ${btoa('ada:wrong')}` }), 401)
    assert.equal(await answer({ authorization: 'Bearer wrong' }), 401)
    assert.equal(await answer({ authorization: 'Digest right' }), 401)
    assert.equal(await answer({}), 401)
  })

  test('reports a promise from a method that must be synchronous', async (t) => {
    const later = async (): Promise<never> => {
      throw new Error('unhandled')
    }
    class User {}
    class ByForm extends layer.CredentialsAuthenticator {
      readonly user = User
      override authenticate() {}
    }
    class ByNothing extends RequestAuthenticator {
      readonly user = User
      override attempt() {}
    }
    for (const [member, authenticator] of [
      ['isSkipped', new ByNothing()],
      ['challenge', new ByNothing()],
      ['parse', new ByForm()],
    ] as const) {
      Object.assign(authenticator, { [member]: later })
      const { url, errors } = await serveAuth(t, authenticator.middleware(), guard(User))

      assert.equal((await fetch(url)).status, 500)
      assert.match(errors[0]?.message ?? '', new RegExp(`^\`${member}\` must return its result`))
    }
  })

  test('reports a missing auth() in the log but not to the client', async (t) => {
    const app = new Koa<object, AuthContext>()
    app.use(BearerAuthenticator.from(class User {}, () => undefined))
    const { url, errors } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 500)
    assert.equal(await response.text(), 'Internal Server Error')
    assert.equal(
      errors[0]?.message,
      'Add `app.use(auth())` before the first authenticator, guard or redirect.',
    )
  })

  test('reports a `ctx.auth` that another library has set', async (t) => {
    class User {}
    for (const [mount, middleware] of [
      ['before auth()', auth()],
      ['instead of auth()', BearerAuthenticator.from(User, () => undefined)],
      ['instead of auth()', guard(User)],
      ['instead of auth()', layer.redirectUnless(User, '/login')],
    ] as const) {
      const app = new Koa()
      app.use((ctx, next) => {
        ctx.auth = { user: 'ada', login() {}, has: () => true } as never
        return next()
      })
      app.use(middleware as Koa.Middleware)
      app.use((ctx) => {
        ctx.body = 'reached'
      })
      const { url, errors } = await serve(t, app)

      assert.equal((await fetch(url)).status, 500, mount)
      assert.match(errors[0]?.message ?? '', /^Another library .* has set `ctx\.auth`/)
      assert.equal(errors[0]?.name, 'Misuse')
    }
  })
})
