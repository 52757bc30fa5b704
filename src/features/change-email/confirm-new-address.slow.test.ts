import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { dump, sql } from '../../testing/database.ts'
import {
  basic,
  bearer,
  password,
  signIn,
  signUp,
  takeJWT,
  takeResetToken,
  takeToken,
} from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { startSite } from '../../testing/site.ts'
import type { Visitor } from '../../testing/visitor.ts'

const email = 'ada@example.org'
const newPassword = 'eight wise canaries 1816'

describe('POST /verify with the link of a new address', () => {
  test('Q10 changes the address, keeps sessions and tokens, and sends a notice to both addresses', async (t) => {
    const { site, ada, person, token } = await siteWithLink(t)
    const [opaque, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
    const other = await signIn(site, person)
    const before = await dump(site)
    for (const method of ['GET', 'HEAD', 'GET'])
      await ada.send(method, `/verify?token=${token}`, { accept: 'text/html' })
    assert.deepEqual(await dump(site), before)

    const { status, headers } = await ada.form('/verify', { token })
    assert.deepEqual([status, headers.location], [303, '/account'])
    for (const answer of [
      await ada.get('/me'),
      await other.get('/me'),
      await site.visitor().get('/me', bearer(opaque)),
      await site.visitor().get('/me', bearer(jwt)),
      await site.visitor().post('/login?as=user', basic({ email })),
    ])
      assert.deepEqual([answer.status, answer.record.email], [200, email])
    assert.equal((await site.visitor().post('/login?as=user', basic(person))).status, 401)
    const [row] = await sql(site, 'select email, email_key, email_verified_at from users')
    assert.deepEqual([row?.email, row?.email_key], [email, email])
    assert.ok(Number(row?.email_verified_at) > Date.now() - 60_000)

    const mails = await receiveMails(site)
    assert.deepEqual(new Set(mails.map(({ to }) => to)), new Set([person.email, email]))
    assert.equal(mails.length, 2)
    for (const { subject, text, token: none } of mails) {
      assert.match(subject, /Your e-mail address was changed at koa-authenticators$/)
      assert.match(text, /If it was not you, contact us at once/)
      assert.match(text, /^Time: .*\nDevice: .*\nNetwork: 127\.0\.0\.1$/m)
      assert.equal(none, '')
    }
    const activity = await ada.page('/account/activity')
    assert.match(activity.text, />Address changed</)
    assert.match(
      activity.text,
      /<bdi>ada@example\.com &rarr; ada@example\.org<|ada@example\.com → ada@example\.org/,
    )
  })

  test('responds to JSON with 204, also if only the case of the address changes', async (t) => {
    const { site, ada, token } = await siteWithLink(t, 'ADA@example.com')
    const { status, text } = await ada.json('/verify', { token })
    assert.deepEqual([status, text], [204, ''])
    assert.deepEqual(await sql(site, 'select email, email_key from users'), [
      { email: 'ADA@example.com', email_key: 'ada@example.com' },
    ])
  })

  test('Q8 rejects an anonymous request and another user, and the link stays valid', async (t) => {
    const { site, ada, token } = await siteWithLink(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const before = await dump(site)
    for (const visitor of [site.visitor(), bob])
      assert.equal((await visitor.json('/verify', { token })).status, 401)
    assert.deepEqual(await dump(site), before)
    assert.equal((await ada.json('/verify', { token })).status, 204)
  })

  test('Q10 responds with 409 if another account has the address, regardless of case', async (t) => {
    const { site, ada, person, token } = await siteWithLink(t)
    await signUp(site, 'Eve', { email: 'ADA@example.org' })
    await receiveMails(site)
    const before = await dump(site)
    const { status, record } = await ada.json('/verify', { token })
    assert.deepEqual([status, record.code], [409, 'email_taken'])
    const page = await ada.form('/verify', { token })
    assert.equal(page.status, 409)
    assert.match(page.text, /There is already an account with this e-mail address\./)
    assert.deepEqual([await dump(site), await receiveMails(site)], [before, []])
    assert.equal((await ada.get('/me')).record.email, person.email)
  })

  test('Q10 gives an address to only one of two accounts that confirm it concurrently', async (t) => {
    const { site, ada, token } = await siteWithLink(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const other = await takeLink(site, bob, 'ADA@example.org')
    const answers = await Promise.all([ada.json('/verify', { token }), bob.json('/verify', { token: other })])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
    const keys = await sql(site, 'select email_key from users order by email_key')
    assert.equal(keys.filter(({ email_key }) => email_key === email).length, 1)
  })

  test('Q10 ends other links of the account', async (t) => {
    const { site, ada, person, token } = await siteWithLink(t)
    const reset = await takeResetToken(site, person)
    assert.equal((await ada.json('/verify', { token })).status, 204)
    assert.deepEqual(await sql(site, 'select * from one_time_tokens'), [])
    assert.equal((await site.visitor().page(`/reset?token=${reset}`)).status, 410)
    assert.doesNotMatch((await ada.page('/account')).text, /email\/cancel/)
  })

  test('Q8 works once, and not after its expiry, a newer request, a cancellation or a password change, or if the account is disabled', async (t) => {
    const { site, ada, person, token: replaced } = await siteWithLink(t)
    const refused = async (token: string) => {
      for (const answer of [await ada.form('/verify', { token }), await ada.page(`/verify?token=${token}`)])
        assert.ok([410, 303].includes(answer.status), `${answer.request} ${answer.status}`)
      assert.equal((await sql(site, 'select email from users'))[0]?.email, person.email)
      assert.equal((await ada.json('/verify', { token })).status, 410)
    }
    const expired = await takeLink(site, ada, 'ada@example.net')
    await refused(replaced)
    await sql(site, 'update one_time_tokens set expires_at = ?', [Date.now()])
    await refused(expired)

    const cancelled = await takeLink(site, ada, email)
    await ada.json('/account/email/cancel', {})
    await refused(cancelled)

    const disabled = await takeLink(site, ada, email)
    await sql(site, 'update users set disabled_at = 1')
    assert.equal((await ada.json('/verify', { token: disabled })).status, 401)
    await sql(site, 'update users set disabled_at = null')

    const before = await takeLink(site, ada, email)
    site.secrets.add(newPassword)
    const body = { currentPassword: password, password: newPassword, confirmPassword: newPassword }
    assert.equal((await ada.json('/account/password', body)).status, 200)
    await refused(before)

    const used = await takeLink(site, ada, email, newPassword)
    assert.equal((await ada.json('/verify', { token: used })).status, 204)
    assert.equal((await ada.json('/verify', { token: used })).status, 410)
  })

  test('changes nothing if a notice cannot be stored, and the link stays valid', async (t) => {
    const { site, ada, person, token } = await siteWithLink(t)
    await sql(site, 'alter table mails rename to mails_hidden')
    assert.equal((await ada.json('/verify', { token })).status, 503)
    await sql(site, 'alter table mails_hidden rename to mails')
    assert.equal((await ada.get('/me')).record.email, person.email)
    assert.equal((await ada.json('/verify', { token })).status, 204)
  })

  test('D3 keeps known devices, so that guesses by others cannot lock the owner out', async (t) => {
    const { site, ada, token } = await siteWithLink(t, email, { THROTTLE: 'on' })
    assert.equal((await ada.json('/verify', { token })).status, 204)
    for (let i = 0; i < 12; i += 1)
      await site.visitor().post('/login?as=user', basic({ email }, 'wrong canary'))
    assert.equal((await site.visitor().post('/login?as=user', basic({ email }))).status, 429)
    assert.equal((await ada.form('/login', { username: email, password })).status, 303)
  })
})

/** A site with a signed-in user who has requested another address, and the token of the link. */
async function siteWithLink(t: TestContext, address = email, environment: Record<string, string> = {}) {
  const site = await startSite(t, environment)
  const person = await signUp(site)
  await sql(site, 'update users set email_verified_at = ?', [Date.now()])
  const ada = await signIn(site, person)
  await receiveMails(site)
  return { site, person, ada, token: await takeLink(site, ada, address) }
}

async function takeLink(
  site: Awaited<ReturnType<typeof startSite>>,
  visitor: Visitor,
  address: string,
  secret = password,
): Promise<string> {
  assert.equal((await visitor.json('/account/email', { email: address, password: secret })).status, 202)
  const mails = await receiveMails(site)
  return mails.find(({ to }) => to === address)?.token ?? assert.fail('no link')
}
