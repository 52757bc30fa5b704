import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import session from 'koa-session'
import { type AuthContext, auth } from './auth.ts'
import { BasicAuthenticator } from './basic.ts'
import { BearerAuthenticator } from './bearer.ts'
import { guard } from './guard.ts'
import { nextPath, withNext } from './next-path.ts'
import { redirectUnless } from './redirect-unless.ts'
import { SessionAuthenticator } from './session.ts'
import { Browser } from './testing/browser.ts'
import { MemoryStore } from './testing/memory-store.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

class User {
  readonly sessionID = 'ada'
}

const byPassword = BasicAuthenticator.from(User, ({ password }) =>
  password === 'secret' ? new User() : undefined,
)
const byToken = BearerAuthenticator.from(User, (token) => (token === 'valid' ? new User() : undefined))

/** A site with pages that need a fresh user. `POST /confirm` logs the user in. */
async function site(t: TestContext) {
  const store = new MemoryStore()
  const reached: string[] = []
  const answer = (ctx: AuthContext) => {
    reached.push(ctx.method)
    ctx.body = 'secret'
  }
  const router = new Router<object, AuthContext>()
  router.get('/guarded', guard(User, { fresh: '10m' }), answer)
  router.post('/both', byToken, byPassword, guard(User, { fresh: 600_000 }), answer)
  router.all(
    '/page',
    redirectUnless(User, (ctx) => withNext('/login', ctx)),
    redirectUnless(User, (ctx) => withNext('/confirm', ctx), { fresh: '10m' }),
    answer,
  )
  router.get(
    '/away',
    redirectUnless(User, () => 'https://example.com', { fresh: '10m' }),
    answer,
  )
  router.post('/confirm', (ctx) => {
    ctx.auth.login(new User(), User, { methods: ['pwd'] })
    ctx.status = 303
    ctx.redirect(nextPath(new URLSearchParams(ctx.querystring).get('next'), '/'))
  })
  const app = new Koa()
  app.keys = ['a key for tests']
  app.use(session({ maxAge: 60_000, store }, app))
  app.use(bodyParser())
  app.use(auth())
  app.use(SessionAuthenticator.from(User, () => new User()))
  app.use(router.routes())
  const { url } = await serve(t, app)
  const browser = new Browser(url)
  const record = (content: unknown) =>
    store.change((data) => {
      data['User:authenticated'] = content
    })
  return { browser, url, record, reached }
}

const bearer = { authorization: 'Bearer valid' }
const basic = { authorization: `Basic ${btoa('ada:secret')}` }

async function assertConfirmationRequired(response: Response): Promise<void> {
  assert.equal(response.status, 401)
  assert.equal(await response.text(), 'Confirm that it is you: authenticate again, then repeat the request.')
}

describe('guard with { fresh }', () => {
  test('rejects an old, unknown or future authentication until the user confirms', async (t) => {
    const { browser, record, reached } = await site(t)
    await browser.post('/confirm')
    const now = Date.now()

    for (const content of [
      { at: now - 601_000, methods: ['pwd'] },
      { at: now + 3_600_000, methods: ['pwd'] },
      undefined,
      'yes',
    ]) {
      record(content)
      await assertConfirmationRequired(await browser.get('/guarded'))
    }
    assert.deepEqual(reached, [])

    record({ at: now - 590_000, methods: ['pwd'] })
    assert.equal((await browser.get('/guarded')).status, 200)
    record(undefined)
    await browser.post('/confirm')
    assert.equal((await browser.get('/guarded')).status, 200)
  })

  test('accepts a password in the same request, but not a token', async (t) => {
    const { url } = await site(t)
    const post = (headers: Record<string, string>) => fetch(`${url}/both`, { method: 'POST', headers })

    assert.equal((await post(basic)).status, 200)
    const refused = await post(bearer)

    await assertConfirmationRequired(refused)
    // RFC 9470 §3.
    assert.equal(
      refused.headers.get('www-authenticate'),
      'Bearer realm="restricted", error="insufficient_user_authentication", max_age="600", Basic realm="restricted", charset="UTF-8"',
    )
    const invalid = await post({ authorization: 'Bearer invalid' })
    assert.match(invalid.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
  })

  test('sends challenges without an `error` parameter if the user comes from a session', async (t) => {
    const { browser, record } = await site(t)
    await browser.post('/confirm')
    record(undefined)

    const refused = await browser.post('/both')

    await assertConfirmationRequired(refused)
    assert.equal(
      refused.headers.get('www-authenticate'),
      'Bearer realm="restricted", Basic realm="restricted", charset="UTF-8"',
    )
  })

  test('throws at startup for an invalid duration or invalid options', () => {
    for (const fresh of ['10', 'ten minutes', '10M', 0, -5, Number.NaN, null])
      assert.throws(() => guard(User, { fresh: fresh as never }), {
        code: 'ERR_AUTH_MISUSE',
        message: '`fresh` must be a duration such as "30s", "10m", "1h" or "1d", or milliseconds.',
      })
    for (const options of [
      { fersh: '10m' },
      { methods: 'otp' },
      { allow: true },
      '10m',
      600_000,
      null,
      ['10m'],
    ])
      assert.throws(() => guard(User, options as never), { code: 'ERR_AUTH_MISUSE' })
  })

  test('with `methods`, rejects a sign-in that lacks one of them, and every token', async (t) => {
    class ByCode extends BasicAuthenticator<User> {
      readonly user = User
      override readonly methods = ['pwd', 'otp', 'mfa']
      override authenticate() {
        return new User()
      }
    }
    const router = new Router<object, AuthContext>()
    const done = (ctx: AuthContext) => {
      ctx.status = 204
    }
    router.get(
      '/code',
      new ByCode().middleware(),
      guard(User, { methods: ['pwd', 'otp'], fresh: '1m' }),
      done,
    )
    router.get('/password', byToken, byPassword, guard(User, { methods: ['pwd', 'otp'] }), done)
    const { url } = await serveAuth(t, router)

    assert.equal((await fetch(`${url}/code`, { headers: basic })).status, 204)
    for (const headers of [basic, bearer])
      await assertConfirmationRequired(await fetch(`${url}/password`, { headers }))
  })
})

describe('redirectUnless with { fresh }', () => {
  test('redirects a visitor to the sign-in page, and a user who is not fresh to the confirmation and back to the page', async (t) => {
    const { browser, record, reached } = await site(t)
    const location = async (response: Promise<Response>) => {
      const { status, headers } = await response
      return [status, headers.get('location')]
    }
    assert.deepEqual(await location(browser.get('/page?tab=2')), [303, '/login?next=%2Fpage%3Ftab%3D2'])
    await browser.post('/confirm')
    record({ at: Date.now() - 601_000, methods: ['pwd'] })

    assert.deepEqual(await location(browser.get('/page?tab=2')), [303, '/confirm?next=%2Fpage%3Ftab%3D2'])
    assert.deepEqual(await location(browser.post('/page')), [303, '/confirm'])
    assert.deepEqual(reached, [])

    assert.deepEqual(await location(browser.post('/confirm?next=%2Fpage%3Ftab%3D2')), [303, '/page?tab=2'])
    assert.equal(await (await browser.get('/page?tab=2')).text(), 'secret')
  })

  test('throws at startup for invalid options', () => {
    for (const options of ['10m', { fresh: '10 minutes' }, { allow: () => true }, User])
      assert.throws(() => redirectUnless(User, '/confirm', options as never), { code: 'ERR_AUTH_MISUSE' })
  })
})
