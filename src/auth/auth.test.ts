import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Koa from 'koa'
import { type AuthContext, auth, reportFailure } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { Undecided } from './errors.ts'
import { guard } from './guard.ts'
import { serve } from './testing/serve.ts'

describe('ctx.auth', () => {
  test('S17 starts empty, and `get` and `has` never throw for a missing user', async (t) => {
    class User {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.body = [ctx.auth.get(User) === undefined, ctx.auth.has(User), ctx.auth.failure === undefined]
    })
    const { url } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), [true, false, true])
  })

  test('S3 S16 S44 returns the user object that was logged in', async (t) => {
    class User {}
    const ada = new User()
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.login(ada)
      ctx.body = [ctx.auth.get(User) === ada, ctx.auth.require(User) === ada, ctx.auth.has(User)]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), [true, true, true])
  })

  test('replaces the user if another user of the same class logs in', async (t) => {
    class User {
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.login(new User('ada'))
      ctx.auth.login(new User('bob'))
      ctx.body = ctx.auth.require(User).name
    })
    const { url } = await serve(t, app)

    assert.equal(await (await fetch(url)).text(), 'bob')
  })

  test('S19 S20 stores and logs out users of several classes independently', async (t) => {
    class User {}
    class Admin {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.login(new User())
      const first = [ctx.auth.has(User), ctx.auth.has(Admin)]
      ctx.auth.login(new Admin())
      const both = [ctx.auth.has(User), ctx.auth.has(Admin)]
      ctx.auth.logout(User)
      ctx.body = [first, both, [ctx.auth.has(User), ctx.auth.has(Admin)]]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), [
      [true, false],
      [true, true],
      [false, true],
    ])
  })

  test('S15 uses the class as the key, not the name of the class', async (t) => {
    const ours = class User {}
    const theirs = class User {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.login(new theirs())
      ctx.body = [ours.name === theirs.name, ctx.auth.has(ours), ctx.auth.has(theirs)]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), [true, false, true])
  })

  test('stores a user under its exact class, or under the given class', async (t) => {
    class Person {}
    class Employee extends Person {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.login(new Employee())
      const withoutClass = [ctx.auth.has(Person), ctx.auth.has(Employee)]
      ctx.auth.logout(Employee)
      ctx.auth.login(new Employee(), Person)
      ctx.body = [withoutClass, [ctx.auth.has(Person), ctx.auth.has(Employee)]]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), [
      [false, true],
      [true, false],
    ])
  })

  test('A5 rejects a value that is not an instance of the class', async (t) => {
    class User {}
    class Admin {}
    class Barred {
      readonly name = 'nobody'
      static [Symbol.hasInstance]() {
        return false
      }
    }
    const wrong: [unknown, unknown][] = [
      [new User(), Admin],
      [[], User],
      [true, User],
      [Promise.resolve(new User()), User],
      [{ name: 'ada' }, undefined],
      [Object.create(null), undefined],
      [new User(), 'User'],
      [null, undefined],
      ['an identifier', undefined],
      [5, undefined],
      [new User(), () => {}],
      [new Barred(), undefined],
    ]
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      for (const [user, type] of wrong) {
        const logIn = () => ctx.auth.login(user as object, type as typeof User)
        assert.throws(logIn, {
          code: 'ERR_AUTH_MISUSE',
          message: /an instance of (a class|User|Admin|Barred|Number|String)/,
        })
        assert.deepEqual([ctx.auth.has(User), ctx.auth.has(Admin)], [false, false])
      }
      ctx.body = 'all of them'
    })
    const { url } = await serve(t, app)

    assert.equal(await (await fetch(url)).text(), 'all of them')
  })

  test('S20 can log in after a logout, and log out without a user', async (t) => {
    class User {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.logout(User)
      ctx.auth.login(new User())
      ctx.auth.logout(User)
      const after = ctx.auth.has(User)
      ctx.auth.login(new User())
      ctx.body = [after, ctx.auth.has(User)]
    })
    const { url } = await serve(t, app)

    assert.deepEqual(await (await fetch(url)).json(), [false, true])
  })

  test('S18 S97 responds with 401 if a required user is missing, and does not name its class', async (t) => {
    class SecretAgent {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      ctx.auth.require(SecretAgent)
      ctx.body = 'reached'
    })
    const { url } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 401)
    assert.equal(await response.text(), 'Authentication required.')
    assert.equal(response.headers.has('www-authenticate'), false)
  })

  test('A3 sends each challenge of the mounted authenticators once with the 401', async (t) => {
    class User {}
    class ByPassword extends BasicAuthenticator {
      readonly user = User
      override authenticate() {}
    }
    class ByToken extends BearerAuthenticator {
      readonly user = User
      override authenticate() {}
    }
    class ByQuery extends RequestAuthenticator {
      readonly user = User
      override attempt() {}
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    for (const kind of [ByPassword, ByToken, ByQuery, ByToken, ByPassword]) app.use(new kind().middleware())
    app.use(guard(User))
    const { url } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 401)
    assert.equal(
      response.headers.get('www-authenticate'),
      'Basic realm="restricted", charset="UTF-8", Bearer realm="restricted"',
    )
  })

  test('A6 S16 belongs to one request: 200 concurrent requests each see their own user', async (t) => {
    class User {
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
    }
    class Admin {}
    const allArrived = Promise.withResolvers<void>()
    let arrived = 0
    class ByName extends BasicAuthenticator<User> {
      readonly user = User
      override async authenticate({ username }: { username: string }, ctx: AuthContext) {
        arrived += 1
        if (arrived === 200) allArrived.resolve()
        await allArrived.promise
        if (username.startsWith('admin')) ctx.auth.login(new Admin())
        else ctx.auth.login(new User(username))
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new ByName().middleware())
    app.use((ctx) => {
      ctx.body = { user: ctx.auth.get(User)?.name, isAdmin: ctx.auth.has(Admin) }
    })
    const { url } = await serve(t, app)
    const names = Array.from({ length: 200 }, (_, i) => (i % 10 === 0 ? `admin${i}` : `user${i}`))

    const answers = await Promise.all(
      names.map(async (name) => {
        const response = await fetch(url, { headers: { authorization: `Basic ${btoa(`${name}:`)}` } })
        return response.json()
      }),
    )

    assert.deepEqual(
      answers,
      names.map((name) => (name.startsWith('admin') ? { isAdmin: true } : { user: name, isAdmin: false })),
    )
  })

  test('A6 belongs to one application', async (t) => {
    class User {}
    const inside = new Koa<object, AuthContext>()
    inside.use(auth())
    inside.use((ctx) => {
      ctx.auth.login(new User())
      ctx.body = ctx.auth.has(User)
    })
    const outside = new Koa<object, AuthContext>()
    outside.use(auth())
    outside.use((ctx) => {
      ctx.body = ctx.auth.has(User)
    })

    assert.equal(await (await fetch((await serve(t, inside)).url)).text(), 'true')
    assert.equal(await (await fetch((await serve(t, outside)).url)).text(), 'false')
  })
})

describe('ctx.auth in JavaScript', () => {
  test('responds with 500 and reports a missing class', async (t) => {
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx) => {
      const method = ctx.auth[ctx.path.slice(1) as 'get'] as (type?: unknown) => unknown
      method.call(ctx.auth)
    })
    const { url, errors } = await serve(t, app)
    for (const method of ['get', 'has', 'require']) {
      assert.equal((await fetch(`${url}/${method}`)).status, 500, method)
      assert.equal(errors.pop()?.message, 'Name the class of the user, as in `guard(User)`.')
    }
  })
})

describe('auth', () => {
  test('throws if Koa calls it as a middleware, without parentheses', () => {
    const middleware = auth as (...sent: unknown[]) => unknown
    assert.throws(() => middleware({}, () => undefined), {
      code: 'ERR_AUTH_MISUSE',
      message: /app\.use\(auth\(\)\)/,
    })
  })

  test('keeps the logged-in users if it is mounted twice', async (t) => {
    class User {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx, next) => {
      ctx.auth.login(new User())
      return next()
    })
    app.use(auth())
    app.use((ctx) => {
      ctx.body = ctx.auth.has(User)
    })
    const { url } = await serve(t, app)

    assert.equal(await (await fetch(url)).text(), 'true')
  })
})

describe('ctx.auth after a failure', () => {
  const outages = {
    'throws synchronously': () => {
      throw new Error('connect ECONNREFUSED 10.0.0.5')
    },
    rejects: async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.5')
    },
    'throws a string': () => {
      throw 'connect ECONNREFUSED 10.0.0.5'
    },
    'throws an error whose status is not a number': () => {
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.5'), { status: 'down' })
    },
    'throws an error of an HTTP client with the status of another server': () => {
      throw Object.assign(new Error('404 from ECONNREFUSED'), { status: 404 })
    },
    'throws an error with a success status': () => {
      throw Object.assign(new Error('ECONNREFUSED'), { status: 200, expose: true })
    },
  }

  test('A5 responds with 503 on a guarded route and runs no further authenticator', async (t) => {
    class User {}
    for (const [how, fail] of Object.entries(outages)) {
      const reached: string[] = []
      class Broken extends RequestAuthenticator {
        readonly user = User
        override attempt(): void | Promise<void> {
          return fail()
        }
      }
      class Later extends RequestAuthenticator {
        readonly user = User
        override attempt(ctx: AuthContext) {
          reached.push('authenticator')
          ctx.auth.login(new User())
        }
      }
      const app = new Koa<object, AuthContext>()
      app.use(auth())
      app.use(new Broken().middleware())
      app.use(new Later().middleware())
      app.use(guard(User))
      app.use((ctx) => {
        reached.push('handler')
        ctx.body = 'secret'
      })
      const { url } = await serve(t, app)

      const response = await fetch(url)

      assert.equal(response.status, 503, how)
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
      assert.equal(response.headers.has('www-authenticate'), false)
      assert.doesNotMatch(await response.text(), /ECONNREFUSED/)
      assert.deepEqual(reached, [], how)
    }
  })

  test('makes `get`, `has` and `require` throw a 503 error, and `has` for another class too', async (t) => {
    class User {}
    class Admin {}
    class Broken extends RequestAuthenticator {
      readonly user = User
      override attempt() {
        throw new Error('the database is down')
      }
    }
    const thrown: unknown[] = []
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new Broken().middleware())
    app.use((ctx) => {
      const checks = [() => ctx.auth.get(User), () => ctx.auth.has(User), () => ctx.auth.require(User)]
      for (const check of [...checks, () => ctx.auth.has(Admin)]) {
        try {
          check()
        } catch (error) {
          thrown.push(error)
        }
      }
      ctx.body = ''
    })
    const { url } = await serve(t, app)

    await fetch(url)

    assert.equal(thrown.length, 4)
    for (const error of thrown) {
      assert.ok(error instanceof Undecided)
      assert.equal(error.status, 503)
      assert.equal((error.cause as Error).message, 'the database is down')
    }
  })

  test('A5 responds with 503 if a later authenticator fails, although a user is logged in', async (t) => {
    class User {}
    class Working extends RequestAuthenticator {
      readonly user = User
      override attempt(ctx: AuthContext) {
        ctx.auth.login(new User())
      }
    }
    class Broken extends RequestAuthenticator {
      readonly user = class Admin {}
      override attempt() {
        throw new Error('the database is down')
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new Working().middleware())
    app.use(new Broken().middleware())
    app.use(guard(User))
    const { url } = await serve(t, app)

    assert.equal((await fetch(url)).status, 503)
  })

  test('lets a public page render without a user, and reports the cause once', async (t) => {
    class User {}
    const cause = new Error('the database is down')
    class Broken extends RequestAuthenticator {
      readonly user = User
      override attempt() {
        throw cause
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new Broken().middleware())
    app.use((ctx) => {
      ctx.body = ctx.auth.failure ? 'We cannot tell who you are.' : 'Hello.'
    })
    const { url, errors } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'We cannot tell who you are.')
    assert.equal(errors.length, 1)
    assert.equal(errors[0]?.cause, cause)
  })

  test('responds with 503 if an earlier middleware reports a failure', async (t) => {
    class User {}
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use((ctx, next) => {
      reportFailure(ctx, new Error('the session store is down'))
      reportFailure(ctx, new Error('a second failure'))
      return next()
    })
    class Working extends RequestAuthenticator {
      readonly user = User
      override attempt(ctx: AuthContext) {
        ctx.auth.login(new User())
      }
    }
    app.use(new Working().middleware())
    app.use(guard(User))
    const { url, errors } = await serve(t, app)

    assert.equal((await fetch(url)).status, 503)
    assert.equal(String(errors[0]?.cause), 'Error: the session store is down')
  })

  test("sends an authenticator's own HTTP error unchanged on a public page", async (t) => {
    class Busy extends RequestAuthenticator {
      readonly user = class User {}
      override attempt(ctx: AuthContext) {
        ctx.throw(429, 'Try again in a minute.', { headers: { 'retry-after': '60' } })
      }
    }
    const app = new Koa<object, AuthContext>()
    app.use(auth())
    app.use(new Busy().middleware())
    app.use((ctx) => {
      ctx.body = 'reached'
    })
    const { url } = await serve(t, app)

    const response = await fetch(url)

    assert.equal(response.status, 429)
    assert.equal(await response.text(), 'Try again in a minute.')
    assert.equal(response.headers.get('retry-after'), '60')
  })
})
