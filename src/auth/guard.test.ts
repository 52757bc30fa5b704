import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { AuthContext } from './auth.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { guard } from './guard.ts'
import { redirectUnless } from './redirect-unless.ts'
import { serveAuth } from './testing/serve-auth.ts'

const basic = (name: string) => ({ authorization: `Basic ${btoa(`${name}:`)}` })

describe('guard', () => {
  test('S46 S82 S97 accepts a user of its class, and rejects every other request before the handler', async (t) => {
    class User {}
    class Admin {}
    const reached: string[] = []
    class ByName extends BasicAuthenticator {
      readonly user = User
      override authenticate({ username }: { username: string }, ctx: AuthContext) {
        if (username === 'ada') ctx.auth.login(new User())
        if (username === 'root') ctx.auth.login(new Admin())
      }
    }
    const { url } = await serveAuth(t, new ByName().middleware(), guard(User), (ctx) => {
      reached.push(ctx.path)
      ctx.body = 'secret'
    })

    assert.equal(await (await fetch(`${url}/ada`, { headers: basic('ada') })).text(), 'secret')
    for (const init of [{ headers: basic('eve') }, { headers: basic('root') }, {}]) {
      const response = await fetch(`${url}/other`, init)
      assert.equal(response.status, 401)
      assert.doesNotMatch(await response.text(), /secret|User/)
    }
    assert.deepEqual(reached, ['/ada'])
  })

  test('S48 rejects a user who was logged out before the guard', async (t) => {
    class User {}
    const { url } = await serveAuth(
      t,
      BasicAuthenticator.from(User, () => new User()),
      (ctx, next) => {
        ctx.auth.logout(User)
        return next()
      },
      guard(User),
    )

    assert.equal((await fetch(url, { headers: basic('ada') })).status, 401)
  })

  test('throws at startup without a class', () => {
    for (const wrong of [undefined, 'User', {}, Object])
      assert.throws(() => guard(wrong as never), { code: 'ERR_AUTH_MISUSE', message: /Name the class/ })
  })

  test('throws at startup if it gets a second class outside a list, or an empty list', () => {
    class User {}
    class Admin {}
    const guards = guard as (...types: unknown[]) => unknown
    assert.throws(() => guards(User, Admin), { code: 'ERR_AUTH_MISUSE', message: /as a list/ })
    assert.throws(() => guards([]), { code: 'ERR_AUTH_MISUSE', message: /at least one class/ })
  })

  test('responds with 500 if a challenge is an invalid header, and the server keeps running', async (t) => {
    class User {}
    class Strange extends BasicAuthenticator {
      readonly user = User
      override authenticate() {}
      override challenge() {
        return 'Strange realm="\r\n日本"'
      }
    }
    const { url } = await serveAuth(t, new Strange().middleware(), guard(User))

    for (let i = 0; i < 2; i += 1) assert.equal((await fetch(url)).status, 500)
  })

  test('reports a guard or an authenticator that runs before a slow authenticator has ended', async (t) => {
    class User {}
    const found = Promise.withResolvers<User>()
    const slow = BearerAuthenticator.from(User, () => found.promise)
    const router = new Router<object, AuthContext>()
    router.get('/guard', guard(User))
    router.get('/redirect', redirectUnless(User, '/login'))
    router.get('/authenticator', slow)
    // The mistake: no `await`.
    const forgetful: Middleware<object, AuthContext> = (ctx, next) => {
      slow(ctx, async () => {})
      return next()
    }
    const { url, errors } = await serveAuth(t, forgetful, router)

    for (const path of ['/guard', '/redirect', '/authenticator']) {
      const response = await fetch(url + path, { headers: { authorization: 'Bearer x' }, redirect: 'manual' })
      assert.equal(response.status, 500, path)
      assert.equal(
        errors.pop()?.message,
        'An authenticator of User is still at work. Write `await` or `return` before the call of its middleware.',
      )
    }
    found.resolve(new User())
  })
})

describe('guard([User, Admin])', () => {
  test('accepts a user of any of the classes', async (t) => {
    class User {}
    class Admin {}
    const { url } = await serveAuth(
      t,
      BasicAuthenticator.from(User, ({ username }) => (username === 'ada' ? new User() : undefined)),
      BasicAuthenticator.from(Admin, ({ username }) => (username === 'root' ? new Admin() : undefined)),
      guard([User, Admin]),
      (ctx) => {
        ctx.body = ctx.auth.has(Admin) ? 'admin' : 'user'
      },
    )
    const get = async (name: string) => (await fetch(url, { headers: basic(name) })).text()

    assert.equal(await get('ada'), 'user')
    assert.equal(await get('root'), 'admin')
    assert.equal(await get('eve'), 'The username or password is wrong.')
  })
})

describe('guard with { allow }', () => {
  class User {
    readonly name: string
    constructor(name: string) {
      this.name = name
    }
  }
  class Admin {
    readonly name = 'root'
  }
  const users = BasicAuthenticator.from(User, ({ username }) =>
    username === 'eve' ? undefined : new User(username),
  )
  const admins = BasicAuthenticator.from(Admin, ({ username }) =>
    username === 'root' ? new Admin() : undefined,
  )

  test('rejects a user who may not go on with 403, and a visitor with 401', async (t) => {
    const { url, errors } = await serveAuth(
      t,
      users,
      guard(User, { allow: async ({ name }, ctx) => ctx.path === `/${name}`, fresh: '1m' }),
      (ctx) => {
        ctx.body = 'yours'
      },
    )
    const get = (name: string) => fetch(`${url}/ada`, { headers: basic(name) })

    assert.equal(await (await get('ada')).text(), 'yours')
    const forbidden = await get('bob')
    assert.deepEqual([forbidden.status, await forbidden.text()], [403, 'You may not do this.'])
    assert.equal((await get('eve')).status, 401)
    assert.deepEqual(
      errors.map((error) => Reflect.get(error, 'code')),
      ['ERR_AUTH_FORBIDDEN', 'ERR_AUTH_WRONG_CREDENTIALS'],
    )
  })

  test('goes on if one of several users may, in the required way', async (t) => {
    const { url } = await serveAuth(
      t,
      users,
      admins,
      (ctx, next) => {
        // The user of a session who signed in long ago.
        if (ctx.path === '/old') ctx.auth.login(new Admin(), Admin, { at: new Date(0) })
        return next()
      },
      guard([User, Admin], { allow: (user) => user instanceof Admin, fresh: '1m' }),
      (ctx) => {
        ctx.status = 204
      },
    )
    const get = async (path: string, name: string) =>
      (await fetch(url + path, { headers: basic(name) })).status

    assert.deepEqual(
      [await get('/', 'root'), await get('/', 'ada'), await get('/old', 'root')],
      [204, 403, 401],
    )
  })

  test('responds with 500 if `allow` does not return a boolean', async (t) => {
    const { url, errors } = await serveAuth(t, users, guard(User, { allow: (() => 'yes') as never }))

    assert.equal((await fetch(url, { headers: basic('ada') })).status, 500)
    assert.match(errors[0]?.message ?? '', /^The result of `allow` must be/)
  })
})
