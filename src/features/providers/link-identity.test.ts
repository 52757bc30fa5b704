import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { v7 as uuidv7 } from 'uuid'
import { count, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { signIn, signUp, takeResetToken } from '../../testing/people.ts'
import {
  ada,
  answerOf,
  goWith,
  identities,
  noticeOn,
  providerSite,
  signUpAndLink,
  signUpWith,
} from '../../testing/provider-site.ts'
import { ageSessions, turnOnApp } from '../../testing/second-factor.ts'
import { storePasskey } from '../../testing/store-passkey.ts'
import { LinkedIdentity } from '../../users/linked-identity.ts'
import { User } from '../../users/user.ts'
import { ProviderFlow } from './provider-flow.ts'

const link = '/account/identities/with/company'

describe('/account/identities', () => {
  test('V7 V8 V13 links in the fresh session that started it', async (t) => {
    const { site } = await providerSite(t)
    const person = await signUp(site)
    assert.match(String((await site.visitor().form(link, {})).headers.location), /^\/login/)
    const visitor = await signIn(site, person)
    const answer = await answerOf(visitor, link)
    await visitor.form('/logout', {})
    assert.equal((await visitor.page(answer)).headers.location, '/login?expired')
    await signIn(site, person, { visitor })
    const another = await answerOf(visitor, link)
    await visitor.form('/logout', {})
    await signIn(site, person, { visitor })
    assert.equal((await visitor.page(another)).headers.location, '/login?expired')
    assert.deepEqual(await identities(site), [])
    const crossSite = await visitor.form(link, {}, { 'sec-fetch-site': 'cross-site' })
    assert.equal(crossSite.status, 403)

    await goWith(visitor, link)
    assert.deepEqual(await identities(site), ['ada@example.com person-1'])
    assert.match(
      await noticeOn(visitor, '/account/security'),
      /Company \(ada@example.com\) has been connected/,
    )
    assert.match((await visitor.page('/account/activity')).text, /Account of a provider connected/)
    await ageSessions(site)
    assert.match(String((await visitor.form(link, {})).headers.location), /^\/confirm/)
  })

  test('V3 V9 V14 leaves the identity of another account where it is', async (t) => {
    const { site } = await providerSite(t)
    await signUpAndLink(site)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    await goWith(bob, link)
    assert.match(await noticeOn(bob, '/account/security'), /is connected to another account of this site/)
    assert.deepEqual(await identities(site), ['ada@example.com person-1'])
    assert.equal((await bob.get('/me')).record.email, 'bob@example.com')
    const [{ id = '' } = {}] = await sql(site, 'select id from identities')
    const answers = []
    for (const each of [String(id), '00000000-0000-7000-8000-000000000000', 'x'])
      answers.push((await bob.json(`/account/identities/${each}/remove`, {})).record)
    assert.equal(answers[0]?.status, 404)
    assert.deepEqual([answers[1], answers[2]], [answers[0], answers[0]])
  })

  test('V11 V12 links ten identities, and keeps the last way to sign in, also with two requests at once', async (t) => {
    const { site, company } = await providerSite(t)
    const visitor = await signUpWith(site)
    for (let i = 2; i <= 11; i += 1) {
      company.forgery = { claims: { sub: `person-${i}` } }
      await goWith(visitor, link)
    }
    assert.equal((await identities(site)).length, 10)
    const { record } = await visitor.get('/account/security')
    assert.equal(record.hasPassword, false)
    const ids = (record.identities as { id: string }[]).map(({ id }) => id)
    for (const id of ids.slice(2))
      assert.equal((await visitor.json(`/account/identities/${id}/remove`, {})).status, 204)
    const last = await Promise.all(
      ids.slice(0, 2).map((id) => visitor.json(`/account/identities/${id}/remove`, {})),
    )
    assert.deepEqual(last.map(({ status }) => status).sort(), [204, 409])
    assert.equal((await identities(site)).length, 1)
  })
})

describe('an account with an identity', () => {
  test('V15 V16 asks for the code of the app after the provider, starts no session before, and keeps the user signed in', async (t) => {
    const { site } = await providerSite(t)
    const { person } = await signUpAndLink(site)
    const app = await turnOnApp(site, person)
    const visitor = site.visitor()
    const fields = { next: '/account/sessions', remember: 'on' }
    const { headers } = await goWith(visitor, '/login/with/company', fields)
    assert.equal(headers.location, '/login/code?next=%2Faccount%2Fsessions')
    assert.equal((await visitor.get('/me')).status, 401)
    const signedIn = await visitor.form('/login/code', { code: app.nextCode(), next: '/account/sessions' })
    assert.equal(signedIn.headers.location, '/account/sessions')
    assert.ok(signedIn.cookies.some((each) => /^session=[\w-]{43}; Max-Age=2592000;/.test(each)))
    assert.equal((await visitor.get('/me')).status, 200)
    assert.equal((await visitor.form('/confirm/with/company', {})).status, 409)
  })

  test('V26 loses identities at the first proof of its address, and keeps them later', async (t) => {
    const { site, company } = await providerSite(t)
    company.forgery = { claims: { email_verified: false } }
    await signUpWith(site)
    const [{ id = '' } = {}] = await sql(site, 'select id from users')
    const passwords = { password: 'eight wise canaries 1816', confirmPassword: 'eight wise canaries 1816' }
    const token = await takeResetToken(site, { id: String(id) })
    await sql(site, `update one_time_tokens set email = '${ada.email}'`)
    assert.match((await site.visitor().page(`/reset?token=${token}`)).text, /also removes/)
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
    assert.deepEqual(await identities(site), [])
  })

  test('V27 cannot sign in while it is disabled, and closing it deletes its identities', async (t) => {
    const { site } = await providerSite(t)
    const { visitor } = await signUpAndLink(site)
    await sql(site, "update users set disabled_at = '2026-01-01'")
    const { status, text } = await goWith(site.visitor())
    assert.equal(status, 403)
    assert.match(text, /Account disabled/)
    assert.equal(await count(site, 'users'), 1)
    await sql(site, 'update users set disabled_at = null')
    await visitor.form('/account/close', { confirm: 'on' })
    assert.equal(await count(site, 'users'), 0)
    assert.equal((await identities(site)).length, 0)
  })

  test('V17 V18 V19 V20 is as fresh as the proof at the provider', async (t) => {
    const { site, company } = await providerSite(t)
    const now = () => Math.floor(Date.now() / 1000)
    const isFresh = async (claims: Record<string, unknown>) => {
      company.forgery = { claims }
      const visitor = site.visitor()
      await goWith(visitor)
      return (await visitor.json('/account/security/totp', {})).status === 200
    }
    await signUpWith(site)
    assert.equal(await isFresh({}), true, 'it has no stronger proof')
    const [account] = await sql(site, 'select id from users')
    await storePasskey(site, { id: String(account?.id) })
    assert.equal(await isFresh({}), false, 'a passkey is a stronger proof')
    await sql(site, 'delete from users')
    const { visitor } = await signUpAndLink(site)
    assert.equal(await isFresh({}), false)
    assert.equal(await isFresh({ auth_time: now() - 3600 }), false)
    assert.equal(await isFresh({ auth_time: String(now()) }), false)
    assert.equal(await isFresh({ auth_time: now() - 60 }), true)
    await ageSessions(site)
    const confirm = async (claims: Record<string, unknown>) => {
      company.forgery = { claims }
      return (await goWith(visitor, '/confirm/with/company', { next: '/account/sessions' })).headers.location
    }
    const again = '/confirm?next=%2Faccount%2Fsessions'
    assert.equal(await confirm({}), again)
    assert.match(await noticeOn(visitor, again), /Company did not ask you to sign in again/)
    assert.equal(await confirm({ auth_time: now() - 3600 }), again)
    assert.equal(await confirm({ auth_time: now(), sub: 'person-2' }), again)
    const before = visitor.session
    assert.equal(await confirm({ auth_time: now() }), '/account/sessions')
    assert.notEqual(visitor.session, before)
  })
})

describe('the callback', () => {
  test('V21 V22 V25 uses a flow once, in its browser, in several tabs', async (t) => {
    const { site, company } = await providerSite(t)
    await signUpWith(site)
    const visitor = site.visitor()
    const [first, second] = [await answerOf(visitor), await answerOf(visitor)]
    const asked = company.requests.length
    assert.equal((await site.visitor().page(first)).headers.location, '/login?expired')
    assert.equal((await visitor.send('HEAD', first)).headers.location, '/login?expired')
    for (const forged of [first.replace(/state=[^&]*/, 'state=x'), '/login/with/company/callback'])
      assert.equal((await visitor.page(forged)).headers.location, '/login?expired')
    const doubled = `${await answerOf(visitor)}&state=x`
    const before = company.requests.length
    assert.equal((await visitor.page(doubled)).headers.location, '/login?expired')
    assert.deepEqual(
      [before - asked, company.requests.length - before],
      [1, 0],
      'V23 only the visit to the provider, and no request of the site',
    )
    const both = await Promise.all([visitor.page(second), visitor.page(second)])
    assert.deepEqual(both.map(({ headers }) => headers.location).sort(), ['/account', '/login?expired'])
    assert.equal((await visitor.page(first)).headers.location, '/account')
    const late = await answerOf(visitor)
    await site.orm.em.fork().nativeUpdate(ProviderFlow, {}, { expiresAt: new Date() })
    assert.equal((await visitor.page(late)).headers.location, '/login?expired')
  })

  test('V23 V24 signs in nobody with the code of another flow, and shows no parameter', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    const [eve, victim] = [site.visitor(), site.visitor()]
    const stolen = new URLSearchParams((await answerOf(victim)).split('?')[1]).get('code') ?? ''
    const forged = (await answerOf(eve)).replace(/code=[^&]*/, `code=${stolen}`)
    assert.equal((await eve.page(forged)).headers.location, '/login?expired')
    const denied = (await answerOf(eve)).replace(/code=[^&]*/, 'error=access_denied')
    assert.equal((await eve.page(denied)).headers.location, '/login?cancelled')
    assert.match(await noticeOn(eve, '/login?cancelled'), /The sign-in was cancelled/)
    assert.equal((await eve.get('/me')).status, 401)
  })

  test('V32 V33 sends the address of the site only, and stores and logs no secret of a flow', async (t) => {
    const { site } = await providerSite(t)
    const visitor = site.visitor()
    const { text } = await visitor.form(
      '/login/with/company',
      { next: '/verify?token=secret' },
      { 'x-forwarded-host': 'evil.example' },
    )
    assert.doesNotMatch(text, /evil\.example/)
    const url = new URL((/content="0;url=([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&'))
    const { searchParams } = url
    assert.equal(searchParams.get('redirect_uri'), `${site.url}/login/with/company/callback`)
    const everywhere = JSON.stringify([await dumpAll(site), site.log])
    for (const name of ['state', 'nonce', 'code_challenge'])
      assert.ok(!everywhere.includes(searchParams.get(name) ?? name), name)
    assert.doesNotMatch(everywhere, /token=secret/)
  })

  test('V35 passes an answer by form on, without the cookies of the browser', async (t) => {
    const { site } = await providerSite(t)
    await signUpWith(site)
    const visitor = site.visitor()
    const query = (await answerOf(visitor)).split('?')[1] ?? ''
    const fields = { ...Object.fromEntries(new URLSearchParams(query)), user: '{"name":"Ada"}' }
    const posted = await site.visitor().form('/login/with/company/callback', fields, {
      'sec-fetch-site': 'cross-site',
      origin: 'https://provider.example',
    })
    assert.deepEqual([posted.status, posted.cookies], [303, []])
    assert.doesNotMatch(String(posted.headers.location), /user=/)
    assert.equal((await visitor.page(String(posted.headers.location))).headers.location, '/account')
    assert.equal((await visitor.json('/login/with/company/callback', fields)).status, 405)
  })

  test('V36 V37 limits the flows of a network, and exists only with PROVIDERS', async (t) => {
    const { site } = await providerSite(t, { THROTTLE: 'on' })
    const statuses = new Set<number>()
    for (let i = 0; i < 51; i += 1)
      statuses.add((await site.visitor().form('/login/with/company', {})).status)
    assert.deepEqual([...statuses], [200, 429])
    const { site: other } = await providerSite(t, { PROVIDERS: ' ,' })
    assert.equal((await other.visitor().form('/login/with/company', {})).status, 404)
    assert.doesNotMatch((await other.visitor().page('/login')).text, /Continue with/)
    // From the time when the site had a provider.
    const visitor = await signIn(other, await signUp(other))
    const identity = {
      provider: 'company',
      issuer: 'x',
      subject: 'x',
      label: 'Company',
      createdAt: new Date(),
    }
    const { id: user } = await other.orm.em.fork().findOneOrFail(User, {})
    await other.orm.em.fork().insert(LinkedIdentity, { ...identity, id: uuidv7(), user })
    assert.doesNotMatch((await visitor.page('/account/security')).text, /Disconnect/)
  })
})
