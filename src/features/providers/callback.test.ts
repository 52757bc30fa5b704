import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { client, fakeOpenID } from '../../auth/testing/fake-openid.ts'
import { count, failWrites, sql } from '../../testing/database.ts'
import { signIn, signUp } from '../../testing/people.ts'
import {
  answerOf,
  goWith,
  identities,
  noticeOn,
  providerSite,
  signUpAndLink,
  signUpForm,
  signUpWith,
  twoProviderSite,
} from '../../testing/provider-site.ts'
import { startSite } from '../../testing/site.ts'

describe('a provider with a tenant', () => {
  test('signs in only members of the organisation', async (t) => {
    const company = await fakeOpenID()
    t.after(() => company.close())
    for (const [id, claim] of [
      ['google', 'hd'],
      ['microsoft', 'tid'],
    ] as const) {
      const prefix = `PROVIDER_${id.toUpperCase()}`
      const environment = {
        PROVIDERS: id,
        [`${prefix}_ISSUER`]: company.url,
        [`${prefix}_CLIENT_ID`]: client.clientId,
        [`${prefix}_CLIENT_SECRET`]: client.clientSecret,
        [`${prefix}_TENANT`]: 'ours',
      }
      const site = await startSite(t, environment, { isPublic: true })
      const memberOf = async (tenant: unknown) => {
        company.forgery = { claims: { [claim]: tenant } }
        return (await goWith(site.visitor(), `/login/with/${id}`)).headers.location
      }
      for (const tenant of [undefined, 'theirs', ['ours'], true])
        assert.equal(await memberOf(tenant), '/login?cancelled', `${claim} ${tenant}`)
      assert.equal(await memberOf('ours'), '/signup/with')
    }
  })
})

describe('the callback of two providers', () => {
  test('V23 rejects an answer for the flow of the other provider, without a request', async (t) => {
    const { site, company, other } = await twoProviderSite(t)
    await signUpWith(site)
    const visitor = site.visitor()
    await goWith(visitor, '/login/with/other')
    const answers = [await answerOf(visitor), await answerOf(visitor, '/login/with/other')]
    const before = [company.requests.length, other.requests.length]
    const mixed = answers.map((path) =>
      path.includes('/company/')
        ? path.replace('/company/', '/other/')
        : path.replace('/other/', '/company/'),
    )
    // The second time with the right path: the first answer has ended the flow.
    for (const path of [...mixed, ...answers])
      assert.equal((await visitor.page(path)).headers.location, '/login?expired', path)
    assert.deepEqual([company.requests.length, other.requests.length], before)
    assert.equal((await visitor.get('/me')).status, 401)
  })

  test('V1 takes the same subject of two issuers for two persons', async (t) => {
    const { site, other } = await twoProviderSite(t)
    await signUpWith(site)
    const eve = site.visitor()
    assert.equal((await goWith(eve, '/login/with/other')).headers.location, '/signup/with')
    assert.equal((await eve.get('/me')).status, 401)
    // A provider cannot speak for another issuer.
    other.forgery = { claims: { iss: 'https://accounts.google.com' } }
    assert.equal((await goWith(site.visitor(), '/login/with/other')).status, 503)
    assert.equal(await count(site, 'users'), 1)
  })
})

describe('the callback', () => {
  test('V16 redirects to no other site, whatever the flow and the forms ask for', async (t) => {
    const { site } = await providerSite(t)
    await signUpAndLink(site)
    for (const next of ['//evil.example', '/account/..//evil.example', '/logout', '/login']) {
      const answer = await goWith(site.visitor(), '/login/with/company', { next })
      assert.equal(answer.headers.location, '/account', next)
    }
  })

  test('V23 shows no parameter, and turns no error of an attacker into a failure of the site', async (t) => {
    const { site, company } = await providerSite(t)
    await signUpAndLink(site)
    const hostile = ['<script>alert(1)</script>', 'a\r\nSet-Cookie: x=1', 'a\0b', 'x'.repeat(1500), '%ff', '']
    for (const error of hostile) {
      company.forgery = { answer: { code: undefined, error, error_description: error, error_uri: error } }
      const visitor = site.visitor()
      const { status, text, cookies } = await goWith(visitor)
      assert.ok(status === 503 || status === 303, `${status} ${error}`)
      assert.ok(!text.includes('script>alert') && !text.includes('xxxxxx'), error)
      assert.deepEqual(cookies, [])
      assert.equal((await visitor.get('/me')).status, 401)
    }
    company.forgery = { answer: { error: 'access_denied' } }
    const both = site.visitor()
    assert.equal((await goWith(both)).headers.location, '/login?cancelled')
    assert.equal((await both.get('/me')).status, 401)
  })

  test('V17 counts a time in the future as now, so that a session does not stay fresh for longer', async (t) => {
    const { site, company } = await providerSite(t)
    const { visitor } = await signUpAndLink(site)
    const auth_time = Math.floor(Date.now() / 1000) + 86_400
    company.forgery = { claims: { auth_time } }
    const other = site.visitor()
    assert.equal((await goWith(other)).headers.location, '/account')
    const confirmed = await goWith(visitor, '/confirm/with/company', { next: '/account/sessions' })
    assert.equal(confirmed.headers.location, '/account/sessions')
    company.forgery = { claims: { auth_time, sub: 'person-2' } }
    await signUpWith(site, { name: 'Bob', email: 'bob@example.com' })
    const rows = await sql(site, 'select data from sessions')
    assert.equal(rows.length, 3)
    for (const { data } of rows) {
      const { at } = JSON.parse(String(data))['user:authenticated']
      assert.ok(Number(at) <= Date.now(), String(data))
    }
  })

  test('V27 links nothing to an account that was disabled in between', async (t) => {
    const { site } = await providerSite(t)
    const visitor = await signIn(site, await signUp(site))
    const answer = await answerOf(visitor, '/account/identities/with/company')
    await sql(site, 'update users set disabled_at = created_at')
    assert.equal((await visitor.page(answer)).headers.location, '/login?expired')
    assert.deepEqual(await identities(site), [])
  })

  test('V30 does not blame the provider for a failure of the database', async (t) => {
    const { site } = await providerSite(t)
    const repair = await failWrites(site, 'insert', 'provider_flows')
    const begun = await site.visitor().form('/login/with/company', {}, { accept: 'text/html' })
    await repair()
    assert.equal(begun.status, 503)
    assert.doesNotMatch(begun.text, /Company cannot be reached/)
    const visitor = site.visitor()
    const answer = await answerOf(visitor)
    await sql(site, 'alter table provider_flows rename to lost')
    const answered = await visitor.page(answer)
    await sql(site, 'alter table lost rename to provider_flows')
    assert.equal(answered.status, 503)
    assert.doesNotMatch(answered.text, /Company cannot be reached/)
    assert.equal((await visitor.page(answer)).headers.location, '/signup/with')
  })

  test('V38 leaves the provider and other sessions alone at sign-out', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = await signUpWith(site)
    const other = site.visitor()
    await goWith(other)
    const before = company.requests.length
    assert.equal((await visitor.form('/logout', {})).headers.location, '/')
    assert.equal(company.requests.length, before)
    assert.equal((await visitor.get('/me')).status, 401)
    assert.equal((await other.get('/me')).status, 200)
    assert.equal((await goWith(visitor)).headers.location, '/account')
  })
})

describe('the form after the callback', () => {
  test('V6 V30 is as unverified as the user info says, and works after an outage of it', async (t) => {
    const { site, company } = await providerSite(t)
    const userinfo_endpoint = `${company.url}/userinfo`
    company.forgery = { metadata: { userinfo_endpoint }, claims: { email: undefined, email_verified: true } }
    company.replies.set('/userinfo', { status: 500 })
    const visitor = site.visitor()
    const failed = await goWith(visitor)
    assert.deepEqual([failed.status, failed.headers['retry-after']], [503, '60'])
    const info = { sub: 'person-1', email: 'ada@example.com', email_verified: false }
    company.replies.set('/userinfo', { body: JSON.stringify({ ...info, sub: 'person-2' }) })
    assert.equal((await goWith(visitor)).status, 503, 'the user info of another person')
    company.replies.set('/userinfo', { body: JSON.stringify(info) })
    assert.equal((await goWith(visitor)).headers.location, '/signup/with')
    assert.match(await noticeOn(visitor, '/signup/with'), /value="ada@example.com"/)
    await visitor.form('/signup/with', await signUpForm(visitor))
    assert.deepEqual(await sql(site, 'select email from users where email_verified_at is not null'), [])
    assert.ok(!site.log.some((line) => line.includes(client.clientSecret)))
  })
})
