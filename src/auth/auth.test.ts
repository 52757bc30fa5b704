import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type Koa from 'koa'
import { type AuthContext, auth, reportFailure } from './auth.ts'
import { RequestAuthenticator } from './authenticator.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { Undecided } from './errors.ts'
import { guard } from './guard.ts'
import { serveAuth } from './testing/serve-auth.ts'

/** Serves what `answer` returns, after these middlewares. */
async function serveAnswer(
  t: TestContext,
  answer: (ctx: AuthContext) => unknown,
  ...before: Koa.Middleware[]
) {
  const { url, errors } = await serveAuth(t, ...before, (ctx) => {
    ctx.body = answer(ctx)
  })
  return { url, errors, json: async () => (await fetch(url)).json() }
}

class User {
  readonly name: string
  constructor(name = 'ada') {
    this.name = name
  }
}

class Admin {}

/** Logs in a user. */
class Working extends RequestAuthenticator<User> {
  readonly user = User
  override attempt(ctx: AuthContext) {
    ctx.auth.login(new User())
  }
}

/** The middleware of an authenticator whose database is down. */
function broken(fail: () => void | Promise<void>, user: typeof User | typeof Admin = User) {
  class Broken extends RequestAuthenticator {
    readonly user = user
    override attempt(): void | Promise<void> {
      return fail()
    }
  }
  return new Broken().middleware()
}

describe('ctx.auth', () => {
  test('S17 starts empty, and `get` and `has` never throw for a missing user', async (t) => {
    const { json } = await serveAnswer(t, ({ auth }) => [
      auth.get(User) ?? null,
      auth.has(User),
      auth.failure ?? null,
    ])
    assert.deepEqual(await json(), [null, false, null])
  })

  test('S3 S16 S44 returns the user object that was logged in last', async (t) => {
    const ada = new User()
    const { json } = await serveAnswer(t, ({ auth }) => {
      auth.login(new User('bob'))
      auth.login(ada)
      return [auth.get(User) === ada, auth.require(User) === ada, auth.has(User)]
    })
    assert.deepEqual(await json(), [true, true, true])
  })

  test('S19 S20 stores and logs out users of several classes independently', async (t) => {
    const { json } = await serveAnswer(t, ({ auth }) => {
      const has = () => [auth.has(User), auth.has(Admin)]
      auth.logout(User)
      auth.login(new User())
      const first = has()
      auth.login(new Admin())
      const both = has()
      auth.logout(User)
      const after = has()
      auth.login(new User())
      return [first, both, after, has()]
    })
    assert.deepEqual(await json(), [
      [true, false],
      [true, true],
      [false, true],
      [true, true],
    ])
  })

  test('S15 uses the class as the key, not the name of the class', async (t) => {
    const ours = class User {}
    const theirs = class User {}
    const { json } = await serveAnswer(t, ({ auth }) => {
      auth.login(new theirs())
      return [ours.name === theirs.name, auth.has(ours), auth.has(theirs)]
    })
    assert.deepEqual(await json(), [true, false, true])
  })

  test('stores a user under its exact class, or under the given class', async (t) => {
    class Employee extends User {}
    const { json } = await serveAnswer(t, ({ auth }) => {
      auth.login(new Employee())
      const withoutClass = [auth.has(User), auth.has(Employee)]
      auth.logout(Employee)
      auth.login(new Employee(), User)
      return [withoutClass, [auth.has(User), auth.has(Employee)]]
    })
    assert.deepEqual(await json(), [
      [false, true],
      [true, false],
    ])
  })

  test('A5 rejects a value that is not an instance of the class', async (t) => {
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
    const { json } = await serveAnswer(t, ({ auth }) => {
      for (const [user, type] of wrong) {
        assert.throws(() => auth.login(user as object, type as typeof User), {
          code: 'ERR_AUTH_MISUSE',
          message: /an instance of (a class|User|Admin|Barred|Number|String)/,
        })
        assert.deepEqual([auth.has(User), auth.has(Admin)], [false, false])
      }
      return ['all of them']
    })
    assert.deepEqual(await json(), ['all of them'])
  })

  test('S18 S97 responds with 401 if a required user is missing, and does not name its class', async (t) => {
    class SecretAgent {}
    const { url } = await serveAuth(t, (ctx) => {
      ctx.auth.require(SecretAgent)
      ctx.body = 'reached'
    })

    const response = await fetch(url)

    assert.equal(response.status, 401)
    assert.equal(await response.text(), 'Authentication required.')
    assert.equal(response.headers.has('www-authenticate'), false)
  })

  test('A3 sends each challenge of the mounted authenticators once with the 401', async (t) => {
    class ByQuery extends RequestAuthenticator {
      readonly user = User
      override attempt() {}
    }
    const byQuery = new ByQuery().middleware()
    const byPassword = BasicAuthenticator.from(User, () => undefined)
    const byToken = BearerAuthenticator.from(User, () => undefined)
    const { url } = await serveAuth(t, byPassword, byToken, byQuery, byToken, byPassword, guard(User))

    const response = await fetch(url)

    assert.equal(response.status, 401)
    assert.equal(
      response.headers.get('www-authenticate'),
      'Basic realm="restricted", charset="UTF-8", Bearer realm="restricted"',
    )
  })
})

describe('ctx.auth in JavaScript', () => {
  test('responds with 500 and reports a missing class', async (t) => {
    const { url, errors } = await serveAuth(t, (ctx) => {
      const method = ctx.auth[ctx.path.slice(1) as 'get'] as (type?: unknown) => unknown
      method.call(ctx.auth)
    })
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
    const { json } = await serveAnswer(t, (ctx) => [ctx.auth.has(User)], new Working().middleware(), auth())
    assert.deepEqual(await json(), [true])
  })
})

describe('ctx.auth after a failure', () => {
  const cause = new Error('the database is down')
  const fail = () => {
    throw cause
  }
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
    for (const [how, fail] of Object.entries(outages)) {
      const reached: string[] = []
      class Later extends RequestAuthenticator {
        readonly user = User
        override attempt(ctx: AuthContext) {
          reached.push('authenticator')
          ctx.auth.login(new User())
        }
      }
      const chain = [broken(fail), new Later().middleware(), guard(User)]
      const { url } = await serveAnswer(t, () => reached.push('handler'), ...chain)

      const response = await fetch(url)

      assert.equal(response.status, 503, how)
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
      assert.equal(response.headers.has('www-authenticate'), false)
      assert.doesNotMatch(await response.text(), /ECONNREFUSED/)
      assert.deepEqual(reached, [], how)
    }
  })

  test('makes `get`, `has` and `require` throw a 503 error, and `has` for another class too', async (t) => {
    const { json } = await serveAnswer(
      t,
      ({ auth }) => {
        const checks = [
          () => auth.get(User),
          () => auth.has(User),
          () => auth.require(User),
          () => auth.has(Admin),
        ]
        for (const check of checks)
          assert.throws(check, (error) => {
            assert.ok(error instanceof Undecided)
            assert.deepEqual([error.status, (error.cause as Error).message], [503, cause.message])
            return true
          })
        return [checks.length]
      },
      broken(fail),
    )
    assert.deepEqual(await json(), [4])
  })

  test('lets a public page render without a user, and reports the cause once', async (t) => {
    const { errors, json } = await serveAnswer(t, (ctx) => [ctx.auth.failure !== undefined], broken(fail))
    assert.deepEqual(await json(), [true])
    assert.deepEqual(
      errors.map((error) => error.cause),
      [cause],
    )
  })

  test('responds with 503 if an earlier middleware reports a failure', async (t) => {
    const report: Koa.Middleware = (ctx, next) => {
      reportFailure(ctx, new Error('the session store is down'))
      reportFailure(ctx, new Error('a second failure'))
      return next()
    }
    const chain = [report, new Working().middleware(), guard(User)]
    const { url, errors } = await serveAnswer(t, () => 'reached', ...chain)
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
    const { url } = await serveAnswer(t, () => 'reached', new Busy().middleware())

    const response = await fetch(url)

    assert.equal(response.status, 429)
    assert.equal(await response.text(), 'Try again in a minute.')
    assert.equal(response.headers.get('retry-after'), '60')
  })
})
