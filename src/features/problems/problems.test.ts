import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { auth, BearerAuthenticator, guard } from '#auth'
import { serve } from '../../auth/testing/serve.ts'
import { httpServer } from '../../http/http-server.ts'
import problems from '../../problems.json' with { type: 'json' }
import { type ProblemCode, Refusal, TryLater } from '../../refusal.ts'
import { basicOverTlsOnly } from '../../site/client-address.ts'
import { errorBoundary } from '../../site/error-boundary.ts'
import { hide } from '../../testing/database.ts'
import { basic, bearer, password, registration, signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { type Site, startSite } from '../../testing/site.ts'

const codes = Object.keys(problems) as ProblemCode[]
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: 'Bearer x' }

type Body = { readonly [member: string]: unknown }

/** For each code, a request whose response has this code. */
const requests: { [Code in ProblemCode]: (site: Site, t: TestContext) => Promise<Body> } = {
  bad_request: (site) => post(site, '/users', { ...json, 'content-encoding': 'gzip' }, 'not gzip'),
  invalid_json: (site) => post(site, '/users', json, '{'),
  not_a_json_object: (site) => post(site, '/users', json, '[]'),
  duplicate_key: (site) => post(site, '/users', json, '{"a":1,"a":2}'),
  json_too_deep: (site) => post(site, '/users', json, `{"a":${'['.repeat(33)}${']'.repeat(33)}}`),
  invalid_encoding: (site) => post(site, '/users', json, Buffer.from([0x7b, 0xff, 0x7d])),
  invalid_form: (site) => post(site, '/users', form, 'a[b]=1'),
  invalid_parameter: async (site) => post(site, '/login?as=x', basic(await signUp(site))),
  invalid_host: (site) => post(site, '/users', { host: 'a/b' }),
  validation_failed: (site) => post(site, '/users', json, '{}'),
  session_required: (site) => get(site, '/me'),
  wrong_credentials: (site) => post(site, '/login', basic({ email: 'eve@example.com' })),
  second_factor_required: async (site) => {
    const ada = await signUp(site, 'Cy')
    await turnOnApp(site, ada)
    return post(site, '/login', json, JSON.stringify({ username: ada.email, password }))
  },
  second_factor_wrong: async (site) => {
    const ada = await signUp(site, 'Dee')
    await turnOnApp(site, ada)
    return post(site, '/login', json, JSON.stringify({ username: ada.email, password, code: '1' }))
  },
  token_invalid: (site) => get(site, '/me', bearer('x')),
  authorization_malformed: (site) => get(site, '/me', { authorization: 'Bearer' }),
  bearer_not_accepted: (site) => get(site, '/account/sessions', bearer('x')),
  scheme_not_accepted: (site) => get(site, '/me', basic({ email: 'eve@example.com' })),
  confirmation_required: (_site, t) =>
    answer(
      t,
      (app) => {
        class Member {}
        app.use(auth())
        app.use(BearerAuthenticator.from(Member, () => new Member()))
        app.use(guard(Member, { fresh: '10m' }))
      },
      bearer('x'),
    ),
  cross_site: (site) => post(site, '/logout', { 'sec-fetch-site': 'cross-site' }),
  account_disabled: (_site, t) =>
    answer(t, (app) => app.use(() => Promise.reject(new Refusal('account_disabled', 'Disabled.')))),
  tls_required: (_site, t) => answer(t, (app) => app.use(basicOverTlsOnly)),
  email_not_verified: (_site, t) =>
    answer(t, (app) => app.use(() => Promise.reject(new Refusal('email_not_verified', 'Confirm it.')))),
  not_found: (site) => get(site, '/nowhere'),
  method_not_allowed: (site) => get(site, '/users'),
  request_timeout: async (_site, t) => {
    const limits = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 }
    const { server } = httpServer(new Koa(), { limits })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as { port: number }
    const [, body = ''] = (await text(connect(port, '127.0.0.1'))).split('\r\n\r\n')
    return JSON.parse(body)
  },
  conflict: (_site, t) => answer(t, (app) => app.use(() => Promise.reject(new Refusal(409, 'Changed.')))),
  second_factor_exists: async (site) => {
    const { visitor } = await turnOnApp(site, await signUp(site, 'Fay'))
    return (await visitor.json('/account/security/totp', {})).record
  },
  email_taken: async (site) => {
    await signUp(site, 'Bob')
    return post(site, '/users', json, JSON.stringify(registration('Bob')))
  },
  link_expired: (site) =>
    post(site, '/reset', json, JSON.stringify({ token: 'x', password, confirmPassword: password })),
  body_too_large: (site) => post(site, '/users', json, `"${'x'.repeat(17_000)}"`),
  unsupported_media_type: (site) => post(site, '/users', { 'content-type': 'text/plain' }, 'x'),
  expectation_failed: (site) => post(site, '/users', { expect: 'x' }),
  rate_limited: async (_site, t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const guess = () => post(site, '/login', basic({ email: 'eve@example.com' }))
    for (let i = 0; i < 10; i += 1) await guess()
    return guess()
  },
  headers_too_large: (site) => get(site, '/', { 'x-large': 'x'.repeat(20_000) }),
  internal_error: async (site, t) => {
    const { mock } = t.mock.method(site.orm, 'isConnected', () => Promise.reject(new Error('broken')))
    const response = await fetch(`${site.url}/readyz`)
    mock.restore()
    return (await response.json()) as Body
  },
  unavailable: async (site) => {
    const restore = await hide(site, 'users')
    const record = await post(site, '/login', basic({ email: 'eve@example.com' }))
    await restore()
    return record
  },
  busy: (_site, t) => answer(t, (app) => app.use(() => Promise.reject(new TryLater(503, 'Full.', 1)))),
}

describe('the code of a problem', () => {
  test('O1 is in a response, with its status and title, and with the path of its page as `type`', async (t) => {
    const site = await startSite(t)
    assert.deepEqual(Object.keys(requests), codes)
    for (const code of codes) {
      const record = await requests[code](site, t)
      const { title, status, explanation, advice } = problems[code]
      const type = `/problems/${code}`
      assert.deepEqual(
        { ...record, detail: '', errors: undefined },
        { type, title, status, code, detail: '', errors: undefined },
      )
      const page = await site.visitor().page(type)
      assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8'], code)
      assert.ok(page.text.includes(`<h1>${title}</h1>`), code)
      const explained = await site.visitor().get(type)
      assert.deepEqual(explained.record, { type, code, title, status, explanation, advice })
    }
  })

  test('has an explanation and advice that begin with a capital and end with a full stop', () => {
    for (const [code, { title, explanation, advice }] of Object.entries(problems)) {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/)
      assert.match(title, /^[A-Z][ -~]+[^.]$/)
      for (const sentence of [explanation, advice]) assert.match(sentence, /^[A-Z][ -~]+\.$/, code)
    }
  })

  test('O1 has no page if it is unknown', async (t) => {
    const site = await startSite(t)
    for (const code of ['nothing', '__proto__', 'toString', 'NOT_FOUND', 'not_found/'])
      for (const accept of ['text/html', '*/*'])
        assert.equal((await site.visitor().get(`/problems/${code}`, { accept })).status, 404, code)
  })
})

async function get(site: Site, path: string, headers = {}): Promise<Body> {
  return (await site.visitor().get(path, headers)).record
}

async function post(site: Site, path: string, headers = {}, body: string | Buffer = ''): Promise<Body> {
  return (await site.visitor().send('POST', path, headers, body)).record
}

/** The problem of a small application with the error boundary of the site. */
async function answer(
  t: TestContext,
  mount: (app: Koa) => unknown,
  headers = basic({ email: 'eve@example.com' }),
): Promise<Body> {
  const app = new Koa()
  app.use(errorBoundary)
  mount(app)
  const { url } = await serve(t, app)
  return (await fetch(url, { headers })).json() as Promise<Body>
}
