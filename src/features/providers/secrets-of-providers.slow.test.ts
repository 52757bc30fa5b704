import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { client } from '../../auth/testing/fake-openid.ts'
import type { Reply } from '../../auth/testing/fake-provider.ts'
import { sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import type { Answer } from '../../testing/promises.ts'
import {
  answerOf,
  goWith,
  providerSite,
  signUpAndLink,
  signUpForm,
  signUpWith,
  urlOf,
} from '../../testing/provider-site.ts'

const accessToken = 'canary-of-an-access-token-1815'

describe('the secrets of a provider', () => {
  test('V33 are in no log line, no response and no table, also while the provider is broken', async (t) => {
    const { site, company } = await providerSite(t, { LOG_LEVEL: 'trace' })
    const canaries = new Set([client.clientSecret, accessToken, 'access-token-of-the-provider'])
    const answers: Answer[] = []
    const keep = async (sent: Promise<Answer>) => {
      const answer = await sent
      answers.push(answer)
      return answer
    }
    const visitor = await signUpWith(site)
    const start = async (path = '/login/with/company') => {
      const url = urlOf(await visitor.form(path, { next: '/account/sessions' }))
      for (const name of ['state', 'nonce', 'code_challenge']) canaries.add(url.searchParams.get(name) ?? '')
      const response = await fetch(url, { redirect: 'manual' })
      const { pathname, search, searchParams } = new URL(response.headers.get('location') ?? '')
      canaries.add(searchParams.get('code') ?? '')
      return { pathname, search }
    }
    for (const path of ['/login/with/company', '/account/identities/with/company', '/confirm/with/company']) {
      const { pathname, search } = await start(path)
      await keep(visitor.page(pathname + search))
      await keep(visitor.page(pathname + search))
      await keep(visitor.json(pathname + search, {}))
      await keep(visitor.page(`${(await start(path)).pathname}${search}&code=x`))
    }
    const tokens = { access_token: accessToken, token_type: 'Bearer', id_token: 'eyJhbGciOiJub25lIn0.e30.' }
    const broken: Reply[] = [
      { body: JSON.stringify(tokens) },
      { body: `{"access_token":${accessToken}"` },
      { body: `{"access_token":"${accessToken}` },
      { body: accessToken, type: 'text/html' },
      { status: 400, body: JSON.stringify({ error: 'invalid_request', error_description: accessToken }) },
      { status: 401, body: JSON.stringify({ error: 'invalid_client', ...tokens }) },
      { status: 500, body: accessToken },
      { status: 302, location: `http://127.0.0.1:1/?token=${accessToken}` },
    ]
    for (const reply of broken) {
      company.replies.set('/token', reply)
      const { pathname, search } = await start()
      await keep(visitor.page(pathname + search))
    }
    company.replies.clear()
    for (const table of ['provider_flows', 'identities', 'sessions']) {
      const { pathname, search } = await start()
      await sql(site, `alter table ${table} rename to lost`)
      await keep(visitor.page(pathname + search))
      await sql(site, `alter table lost rename to ${table}`)
    }
    for (const status of [303, 405, 503])
      assert.ok(
        answers.some((answer) => answer.status === status),
        `a response with ${status}`,
      )

    const stored = JSON.stringify([await dumpAll(site), await sql(site, 'select * from events')])
    const log = site.log.join('')
    const shown = answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('')
    assert.ok(canaries.size > 30)
    for (const canary of canaries) {
      // Messages of a JSON parser quote ten characters.
      const parts = canary === accessToken ? [canary.slice(0, 10), canary.slice(-10)] : []
      for (const part of [canary, ...parts]) {
        assert.ok(!log.includes(part), `${part} in the log`)
        assert.ok(!stored.includes(part), `${part} in the database`)
        assert.ok(!shown.includes(part), `${part} in a response`)
      }
    }
    const { state } = Object.fromEntries(new URLSearchParams((await answerOf(visitor)).split('?')[1]))
    const flows = await sql(site, 'select digest from provider_flows')
    assert.ok(flows.some(({ digest }) => digest === hash('sha256', state ?? '', 'base64url')))
  })
})

describe('a provider that is broken', () => {
  test('V30 delays only its own flow, and gets 503 with Retry-After', async (t) => {
    const { site, company } = await providerSite(t)
    const { visitor } = await signUpAndLink(site)
    const replies: (Reply | 'hang')[] = [
      { body: `{"long":"${'x'.repeat(10_000_000)}"}` },
      { type: 'text/html', body: '<h1>Maintenance</h1>' },
      { status: 500 },
      { status: 401, body: '{"error":"invalid_client"}' },
      'hang',
    ]
    for (const reply of replies) {
      const other = site.visitor()
      const answer = await answerOf(other)
      company.replies.set('/token', reply)
      const waiting = other.page(answer)
      assert.equal((await visitor.get('/me')).status, 200)
      const { status, headers, text } = await waiting
      assert.deepEqual([status, headers['retry-after']], [503, '60'])
      assert.match(text, /Company cannot be reached at the moment\. Try again in a minute\./)
      assert.equal((await other.get('/me')).status, 401)
      company.replies.clear()
      assert.equal((await goWith(other)).headers.location, '/account')
    }
  })

  test('V30 does not stop the site from starting, and is used as soon as it is there', async (t) => {
    const { site, company } = await providerSite(t)
    company.replies.set('/.well-known/openid-configuration', { status: 502 })
    const visitor = site.visitor()
    for (const path of ['/login', '/signup', '/']) assert.equal((await visitor.page(path)).status, 200)
    const refused = await visitor.form('/login/with/company', {}, { accept: 'text/html' })
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '60'])
    company.replies.clear()
    assert.equal((await goWith(visitor)).headers.location, '/signup/with')
    assert.equal((await visitor.form('/signup/with', await signUpForm(visitor))).headers.location, '/account')
  })
})
