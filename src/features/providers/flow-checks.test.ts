import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hotp, stepAt } from '../../account/second-factor/totp.ts'
import { count, sql } from '../../testing/database.ts'
import { until } from '../../testing/faults/until.ts'
import { lockDatabase } from '../../testing/lock-database.ts'
import { signIn, signUp } from '../../testing/people.ts'
import {
  ada,
  answerOf,
  goWith,
  identities,
  providerSite,
  signUpAndLink,
  signUpForm,
  signUpWith,
} from '../../testing/provider-site.ts'
import { recordStatements } from '../../testing/record-statements.ts'
import { fromBase32 } from '../../testing/second-factor.ts'
import { ProviderFlow } from './provider-flow.ts'

const next = '/account/sessions'
const again = '/confirm?next=%2Faccount%2Fsessions'
const justNow = () => ({ auth_time: Math.floor(Date.now() / 1000) })

describe('a flow', () => {
  test('V22 is not used up by an answer in another browser that has a flow of its own', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    const [visitor, eve] = [site.visitor(), site.visitor()]
    await answerOf(eve)
    const answer = await answerOf(visitor)
    assert.equal((await eve.page(answer)).headers.location, '/login?expired')
    assert.equal((await visitor.page(answer)).headers.location, '/account')
  })

  test('V21 sends its code to the provider only once', async (t) => {
    const { site, company } = await providerSite(t)
    await signUpWith(site)
    const visitor = site.visitor()
    const answer = await answerOf(visitor)
    const sent = () => company.requests.filter((path) => path === '/token').length
    const before = sent()
    const statements = await recordStatements(t, site.orm)
    const found = () => statements.filter((each) => /^select .* from `provider_flows`/.test(each)).length
    const lock = await lockDatabase(t, site)
    const answers = [visitor.page(answer), visitor.page(answer), visitor.page(answer)]
    await until('each answer has found the flow', () => found() === answers.length)
    await lock.release("delete from provider_flows where digest = ''")
    await Promise.all(answers)
    assert.equal(sent() - before, 1)
  })
})

describe('a sign-up that waits for its form', () => {
  test('V22 V25 belongs to its browser, and lasts ten minutes', async (t) => {
    const { site } = await providerSite(t)
    const [visitor, eve] = [site.visitor(), site.visitor()]
    await goWith(visitor)
    const form = await signUpForm(visitor)
    await answerOf(eve)
    assert.equal((await eve.form('/signup/with', form)).headers.location, '/login?expired')
    await site.orm.em.fork().nativeUpdate(ProviderFlow, { purpose: 'sign-up' }, { expiresAt: new Date() })
    assert.equal((await visitor.form('/signup/with', form)).headers.location, '/login?expired')
    assert.equal(await count(site, 'users'), 0)
  })

  test('is the one of the last answer', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = site.visitor()
    for (const sub of ['person-1', 'person-2']) {
      company.forgery = { claims: { sub } }
      await goWith(visitor)
    }
    assert.equal((await visitor.form('/signup/with', await signUpForm(visitor))).status, 303)
    assert.deepEqual(await identities(site), ['ada@example.com person-2'])
    assert.deepEqual(await sql(site, 'select digest from provider_flows'), [])
  })

  test('V22 is not finished by the form of another answer', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = site.visitor()
    await goWith(visitor)
    const form = await signUpForm(visitor)
    company.forgery = { claims: { sub: 'person-2' } }
    await goWith(visitor)
    assert.equal((await visitor.form('/signup/with', form)).headers.location, '/login?expired')
    assert.deepEqual(await identities(site), [])
  })

  test('V12 ends if the site no longer has its provider', async (t) => {
    const { site } = await providerSite(t)
    const visitor = site.visitor()
    await goWith(visitor)
    const form = await signUpForm(visitor)
    await sql(site, "update provider_flows set provider = 'former'")
    assert.equal((await visitor.page('/signup/with')).headers.location, '/login?expired')
    assert.equal((await visitor.form('/signup/with', form)).headers.location, '/login?expired')
    assert.equal(await count(site, 'users'), 0)
  })

  test('D12 P13 counts as a sign-up, and not as a mail to the owner of the address', async (t) => {
    const { site, company } = await providerSite(t, { THROTTLE: 'on' })
    const owner = await signIn(site, await signUp(site))
    company.forgery = { claims: { email_verified: false } }
    const eve = site.visitor()
    await goWith(eve)
    const form = await signUpForm(eve)
    const statuses: number[] = []
    // The owner's sign-up counts too.
    for (let i = 0; i < 50; i += 1) statuses.push((await eve.form('/signup/with', form)).status)
    assert.deepEqual(statuses, [...Array(49).fill(409), 429])
    assert.equal((await owner.form('/account/verification', {})).status, 303)
  })
})

describe('an identity', () => {
  test('E18 ends the session of another user when it signs in', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    const visitor = await signIn(site, await signUp(site, 'Bob'))
    const { session } = visitor
    assert.equal((await goWith(visitor)).headers.location, '/account')
    assert.equal((await visitor.get('/me')).record.email, ada.email)
    assert.equal((await site.visitor(session).get('/me')).status, 401)
  })
})

describe('/confirm/with/:provider', () => {
  test('V19 confirms only in the session that started it', async (t) => {
    const { site, company } = await providerSite(t)
    const { person, visitor } = await signUpAndLink(site)
    company.forgery = { claims: justNow() }
    const answer = await answerOf(visitor, '/confirm/with/company', { next })
    await visitor.form('/logout', {})
    await signIn(site, person, { visitor })
    assert.equal((await visitor.page(answer)).headers.location, '/login?expired')
  })

  test('V19 confirms no identity of another user', async (t) => {
    const { site, company } = await providerSite(t)
    const { visitor } = await signUpAndLink(site)
    company.forgery = { claims: { ...justNow(), sub: 'person-2' } }
    await signUpAndLink(site, 'Bob')
    assert.equal((await goWith(visitor, '/confirm/with/company', { next })).headers.location, again)
  })

  test('P11 does not confirm an account that has turned on an app in the meantime', async (t) => {
    const { site, company } = await providerSite(t)
    const { visitor } = await signUpAndLink(site)
    company.forgery = { claims: justNow() }
    const answer = await answerOf(visitor, '/confirm/with/company', { next })
    const { record } = await visitor.json('/account/security/totp', {})
    const code = hotp(fromBase32(String(record.secret)), stepAt(Date.now()))
    assert.equal((await visitor.json('/account/security/totp/confirm', { code })).status, 200)
    assert.equal((await visitor.page(answer)).headers.location, '/login?expired')
  })
})
