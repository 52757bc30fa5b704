import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countHashes } from '../../testing/count-hashes.ts'
import { count, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { password, signUp } from '../../testing/people.ts'
import { ada, goWith, identities, providerSite, signUpForm, signUpWith } from '../../testing/provider-site.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { ageSessions } from '../../testing/second-factor.ts'

const next = '/account/sessions?name=CI'
const newPassword = 'eight wise canaries 1816'

describe('/signup/with', () => {
  test('V1 V5 V16 V34 creates an account by a form, and finds it by issuer and subject', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = site.visitor()
    const callback = await goWith(visitor, '/login/with/company', { next, remember: 'on' })
    assert.equal(callback.headers.location, `/signup/with?next=${encodeURIComponent(next)}`)
    assert.equal(await count(site, 'users'), 0)
    const form = await visitor.page(String(callback.headers.location))
    for (const shown of [
      'value="Ada"',
      'value="ada@example.com"',
      `value="${next}"`,
      'Create account with Company',
    ])
      assert.ok(form.text.includes(shown), shown)
    assert.match(String(form.headers['content-security-policy']), /form-action 'self'/)
    const created = await visitor.form('/signup/with', { ...(await signUpForm(visitor)), next })
    assert.deepEqual([created.status, created.headers.location], [303, next])
    assert.ok(created.cookies.some((each) => /^session=.*Max-Age=2592000;/.test(each)))
    assert.deepEqual(await identities(site), ['ada@example.com person-1'])

    company.forgery = { claims: { email: 'other@example.com', name: 'Other' } }
    const again = await goWith(site.visitor(), '/login/with/company', { next: 'https://evil.example' })
    assert.equal(again.headers.location, '/account')
    company.forgery = { claims: { sub: 'person-2' } }
    assert.equal((await goWith(site.visitor())).headers.location, '/signup/with')
    assert.equal(await count(site, 'users'), 1)
  })

  test('V3 V4 leaves the account with the same verified address alone', async (t) => {
    const { site } = await providerSite(t)
    await signUp(site)
    await sql(site, "update users set email_verified_at = '2026-01-01'")
    const before = await dumpAll(site)
    const eve = site.visitor()
    assert.equal((await goWith(eve)).headers.location, '/signup/with')
    for (const email of ['ada@example.com', 'ADA@example.com']) {
      const refused = await eve.form('/signup/with', await signUpForm(eve, { name: 'Ada', email }))
      assert.equal(refused.status, 409)
      assert.match(refused.text, /Sign in to it, and connect Company on the page “Security”/)
    }
    assert.equal((await eve.get('/me')).status, 401)
    assert.deepEqual(await dumpAll(site), { ...before, provider_flows: (await dumpAll(site)).provider_flows })
  })

  test('V6 believes an address only if the provider has verified it and nobody has changed it', async (t) => {
    const { site, company } = await providerSite(t)
    const values = [true, 'true', false, 'false', 1, null, undefined]
    for (const [index, email_verified] of values.entries()) {
      const email = `person-${index}@example.com`
      company.forgery = { claims: { sub: email, email, email_verified } }
      await signUpWith(site, { name: 'Ada', email })
    }
    company.forgery = { claims: { sub: 'x' } }
    await signUpWith(site, { name: 'Ada', email: 'changed@example.com' })
    const verified = await sql(site, 'select email from users where email_verified_at is not null')
    const emails = verified.map(({ email }) => email).sort()
    assert.deepEqual(emails, ['person-0@example.com', 'person-1@example.com'])
    const mails = await receiveMails(site)
    assert.equal(mails.length, 6)
  })

  test('V2 links an identity to one of two accounts that are created at once', async (t) => {
    const { site } = await providerSite(t)
    const visitors = [site.visitor(), site.visitor()]
    for (const visitor of visitors) await goWith(visitor)
    const answers = await Promise.all(
      visitors.map(async (visitor, i) =>
        visitor.form(
          '/signup/with',
          await signUpForm(visitor, { name: 'Ada', email: `ada${i}@example.com` }),
        ),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409])
    assert.equal((await identities(site)).length, 1)
    assert.equal(await count(site, 'users'), 1)
  })

  test('needs the browser and the form of the flow, only once, and for ten minutes', async (t) => {
    const { site } = await providerSite(t)
    const visitor = site.visitor()
    await goWith(visitor)
    const form = await signUpForm(visitor)
    assert.equal((await site.visitor().form('/signup/with', form)).headers.location, '/login?expired')
    assert.equal((await visitor.form('/signup/with', ada)).headers.location, '/login?expired')
    assert.equal((await visitor.json('/signup/with', form)).status, 415)
    assert.equal((await visitor.form('/signup/with', { ...form, email: 'x' })).status, 400)
    const both = await Promise.all([visitor.form('/signup/with', form), visitor.form('/signup/with', form)])
    assert.equal(both.filter(({ headers }) => headers.location === '/account').length, 1)
    assert.equal(await count(site, 'users'), 1)
    const late = site.visitor()
    await goWith(late, '/login/with/company')
    assert.equal((await late.get('/me')).status, 200)
  })

  test('shows no name and no address that the site does not accept', async (t) => {
    const { site, company } = await providerSite(t)
    const hostile = ['x'.repeat(10_000), 'a\r\nb', '\u202eabc', { a: 1 }, ['ada@example.com'], '']
    for (const [index, value] of hostile.entries()) {
      company.forgery = { claims: { sub: `person-${index}`, email: value, name: value } }
      const visitor = site.visitor()
      assert.equal((await goWith(visitor)).headers.location, '/signup/with')
      const { text } = await visitor.page('/signup/with')
      assert.match(text, /name="name"[^>]*value=""/)
      assert.match(text, /name="email"[^>]*value=""/)
    }
  })
})

describe('an account without a password', () => {
  test('V28 matches no password, with the company and the response of a wrong one', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    await signUp(site, 'Bob')
    const hashes = countHashes(t)
    const attempt = async (username: string) => {
      const { status, text } = await site.visitor().form('/login', { username, password: '!' })
      return [status, text.replaceAll(username, 'x'), hashes()]
    }
    assert.deepEqual(await attempt('ada@example.com'), await attempt('bob@example.com'))
    assert.equal(
      (await site.visitor().json('/login', { username: 'ada@example.com', password: '' })).status,
      400,
    )
    assert.ok(!site.log.some((line) => line.includes('PASSWORD_HASH_DAMAGED')))
  })

  test('V29 never sees a field for it, and can set one with a fresh session', async (t) => {
    const { site } = await providerSite(t)
    const visitor = await signUpWith(site)
    const forms = ['/account/password', '/account/email', '/account/close']
    for (const path of forms) {
      const { status, text } = await visitor.page(path)
      assert.equal(status, 200)
      assert.doesNotMatch(text, /autocomplete="current-password"/, path)
    }
    await ageSessions(site)
    for (const path of forms)
      assert.equal((await visitor.page(path)).headers.location, `/confirm?next=${encodeURIComponent(path)}`)
    const typed = { password: newPassword, confirmPassword: newPassword }
    assert.equal((await visitor.json('/account/password', typed)).record.code, 'confirmation_required')
    const confirmation = await visitor.page('/confirm?next=%2Faccount%2Fpassword')
    assert.doesNotMatch(confirmation.text, /type="password"/)
    assert.match(confirmation.text, /action="\/confirm\/with\/company"/)
    const back = await goWith(visitor, '/confirm/with/company', { next: '/account/password' })
    assert.equal(back.headers.location, '/account/password')
    assert.equal((await visitor.form('/account/password', { ...typed, password: 'short' })).status, 400)
    assert.equal((await visitor.form('/account/password', typed)).status, 303)
    const signedIn = await site.visitor().form('/login', { username: ada.email, password: newPassword })
    assert.equal(signedIn.status, 303)
    const without = await visitor.form('/account/password', { password, confirmPassword: password })
    assert.match(without.text, /Enter your current password/)
  })
})
