import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { count, dump, sql } from '../../testing/database.ts'
import { basic, password, signIn, signUp } from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { recordSiteStatements } from '../../testing/record-site-statements.ts'
import { ageSessions } from '../../testing/second-factor.ts'
import { type Site, startSite } from '../../testing/site.ts'

const path = '/account/email'
const email = 'ada@example.org'
const change = { email, password }

describe('GET /account/email', () => {
  test('L7 has a field for the new address, and a password field more than ten minutes after the sign-in', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    assert.doesNotMatch((await ada.page(path)).text, /type="password"/)
    await ageSessions(site)
    const { status, text, headers } = await ada.page(path)
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    assert.match(text, new RegExp(`name="username" value="${person.email}" autocomplete="username" readonly`))
    assert.match(text, /<input id="email" name="email" type="email" autocomplete="email"/)
    assert.match(text, /<input id="password" name="password" type="password" autocomplete="current-password"/)
  })
})

describe('POST /account/email', () => {
  test('Q8 sends a link to the new address and a notice to the old one, and does not change the account yet', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const users = async () => sql(site, 'select * from users')
    const before = await users()
    const { status, headers } = await ada.form(path, change)
    assert.deepEqual([status, headers.location], [303, '/account'])
    assert.match((await ada.page('/account')).text, /We have sent a link to ada@example\.org\./)

    const [link, notice, ...others] = await receiveMails(site)
    assert.deepEqual([link?.to, notice?.to, others], [email, person.email, []])
    assert.match(link?.subject ?? '', /Confirm your new e-mail address at koa-authenticators$/)
    assert.match(link?.text ?? '', /This link works once, for 24 hours\./)
    assert.match(link?.token ?? '', /^[\w-]{43}$/)
    assert.doesNotMatch(
      `${link?.text}${link?.html}`,
      /Ada/,
      'a mail to an address that is not verified contains no name',
    )
    assert.match(notice?.subject ?? '', /Request to change your e-mail address at koa-authenticators$/)
    assert.match(
      notice?.text ?? '',
      /If it was not you, choose a new password\.[\s\S]+^This wasn't me:\n.+\/forgot$/m,
    )
    assert.equal(notice?.token, '')
    assert.deepEqual(await users(), before)
    assert.equal((await site.visitor().post('/login?as=user', basic(person))).status, 200)
    assert.equal((await site.visitor().post('/login?as=user', basic({ email }))).status, 401)
  })

  test('Q8 sends no notice to an old address that is not verified', async (t) => {
    const { site, ada } = await siteWithAda(t, {}, { isVerified: false })
    await ada.form(path, change)
    assert.equal((await receiveMail(site)).to, email)
  })

  test('responds to JSON with 202, by session and by Basic', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const bySession = await ada.json(path, change)
    const detail = 'We have sent a link to ada@example.org. It works for 24 hours.'
    assert.deepEqual([bySession.status, bySession.record, bySession.cookies], [202, { detail }, []])
    const byBasic = await site.visitor().json(path, change, basic(person))
    assert.deepEqual([byBasic.status, byBasic.text], [202, bySession.text])
    assert.equal((await receiveMails(site)).filter(({ to }) => to === email).length, 2)
  })

  test('Q9 responds to the address of another account as to a free one, with the same statements and pages, and mails its owner', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const bob = await signUp(site, 'Bob')
    await receiveMails(site)
    await ada.form(path, { email: 'warm-up@example.org', password })
    await receiveMails(site)
    const statements = await recordSiteStatements(t, site)
    const observe = async (address: string) => {
      statements()
      const seen: unknown[] = []
      for (const send of [
        () => ada.form(path, { email: address, password }),
        () => ada.json(path, { email: address, password }),
        () => ada.page('/account'),
        () => ada.page('/account'),
        () => ada.page(path),
      ]) {
        const { status, text, headers, cookies } = await send()
        const { date: _, ...others } = headers
        seen.push([status, text.replaceAll(address, 'ADDRESS'), others, cookies.length])
      }
      const texts = statements().map((each) => each.replace(/'[^']*'|\b\d+\b|\bnull\b(?=,)/g, '?'))
      return { seen, texts, mails: await receiveMails(site) }
    }
    const free = await observe(email)
    for (const address of [bob.email, 'BOB@example.com']) {
      const used = await observe(address)
      assert.deepEqual(used.seen, free.seen)
      assert.deepEqual(used.texts, free.texts)
      const toBob = used.mails.filter(({ to }) => to === bob.email)
      assert.equal(toBob.length, 2)
      for (const { subject, text, token } of toBob) {
        assert.match(subject, /You already have an account at koa-authenticators$/)
        assert.match(text, /Nothing|nothing has changed/)
        assert.deepEqual([token, text.includes('Ada'), text.includes('Bob')], ['', false, false])
      }
      assert.equal(used.mails.length, free.mails.length)
    }
  })

  test('Q8 changes nothing for a wrong password, and reports every invalid field', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const before = await dump(site)
    const wrong = await ada.form(path, { email: 'ada', password: 'wrong canary' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /<title>Error: Change your e-mail address/)
    assert.match(wrong.text, /<a href="#email">Enter an e-mail address like name@example\.com\.<\/a>/)
    assert.match(wrong.text, /<a href="#password">This is not your current password\.<\/a>/)
    assert.match(wrong.text, /<input id="email"[^>]* value="ada"/)
    assert.ok(!wrong.text.includes('wrong canary'))
    const own = await ada.json(path, { email: person.email, password })
    assert.deepEqual(own.record.errors, [{ field: 'email', detail: 'This is already your e-mail address.' }])
    for (const address of ['', `${email}, eve@example.com`, 'ſ@example.com'])
      assert.equal((await ada.json(path, { email: address, password })).status, 400)
    for (const secret of ['', 'wrong canary'])
      assert.equal((await ada.json(path, { email, password: secret })).status, 400)
    assert.deepEqual([await dump(site), await receiveMails(site)], [before, []])
  })

  test('Q3 accepts five requests an hour for a new address, from all accounts together, even if an account has it', async (t) => {
    const { site, ada } = await siteWithAda(t, { THROTTLE: 'on' })
    const bob = await signUp(site, 'Bob')
    const eve = await signIn(site, await signUp(site, 'Eve'))
    await receiveMails(site)
    await sql(site, 'delete from attempts')
    for (const address of [email, bob.email]) {
      const spellings = [address, address.toUpperCase()]
      const statuses: number[] = []
      for (let i = 0; i < 7; i += 1) {
        const visitor = i % 2 === 0 ? ada : eve
        statuses.push((await visitor.json(path, { email: spellings[i % 2], password })).status)
      }
      assert.deepEqual(statuses, [...Array(5).fill(202), 429, 429], address)
    }
    const page = await ada.form(path, change)
    assert.equal(page.status, 429)
    assert.match(page.headers['retry-after'] ?? '', /^\d+$/)
    assert.match(page.text, /<title>Error: Change your e-mail address/)
  })

  test('Q3 accepts at most ten requests of an account in a day', async (t) => {
    const { site, ada } = await siteWithAda(t, { THROTTLE: 'on' })
    const statuses: number[] = []
    for (let i = 0; i < 12; i += 1)
      statuses.push((await ada.json(path, { email: `ada${i}@example.org`, password })).status)
    assert.deepEqual(statuses, [...Array(10).fill(202), 429, 429])
    assert.match((await ada.form(path, change)).text, /Too many attempts for this account\./)
    const eve = await signIn(site, await signUp(site, 'Eve'))
    assert.equal((await eve.json(path, change)).status, 202)
  })

  test('Q3 accepts 20 requests an hour from a network', async (t) => {
    const { site, ada } = await siteWithAda(t, { THROTTLE: 'on' })
    const others = [
      await signIn(site, await signUp(site, 'Bob')),
      await signIn(site, await signUp(site, 'Eve')),
    ]
    // The sign-ups have sent mails too.
    await sql(site, 'delete from attempts')
    const statuses: number[] = []
    for (const [number, visitor] of [ada, ...others].entries())
      for (let i = 0; i < 8; i += 1)
        statuses.push((await visitor.json(path, { email: `ada${number}${i}@example.org`, password })).status)
    assert.deepEqual(statuses, [...Array(20).fill(202), ...Array(4).fill(429)])
  })

  test('Q3 does not block reset links to the requested address', async (t) => {
    const { site, person } = await siteWithAda(t, { THROTTLE: 'on' })
    const eve = await signIn(site, await signUp(site, 'Eve'))
    await sql(site, 'delete from attempts')
    for (let i = 0; i < 7; i += 1) await eve.json(path, { email: person.email, password })
    await receiveMails(site)
    await site.visitor().json('/forgot', { email: person.email })
    const { to, subject } = await receiveMail(site)
    assert.deepEqual([to, subject], [person.email, 'Choose a new password at koa-authenticators'])
  })

  test('records one event for a request and one for a cancellation', async (t) => {
    const { ada } = await siteWithAda(t)
    await ada.form(path, change)
    await ada.form(`${path}/cancel`, {})
    await ada.form(`${path}/cancel`, {})
    const { text } = await ada.page('/account/activity')
    for (const event of ['requested', 'cancelled'])
      assert.equal(text.match(new RegExp(`>Address change ${event}<`, 'g'))?.length, 1, event)
    assert.equal(text.match(/<bdi>ada@example\.org<\/bdi>/g)?.length, 2)
  })
})

describe('the pending address', () => {
  test('Q8 is shown on the profile until it is cancelled, and the cancellation deletes the link', async (t) => {
    const { site, ada } = await siteWithAda(t)
    assert.doesNotMatch((await ada.page('/account')).text, /account\/email\/cancel/)
    await ada.json(path, change)
    const { text } = await ada.page('/account')
    assert.match(text, /<b>ada@example\.org<\/b>/)
    assert.match(text, /<form method="post" action="\/account\/email\/cancel">/)
    await receiveMails(site)
    const { status, headers } = await ada.form(`${path}/cancel`, {})
    assert.deepEqual([status, headers.location], [303, '/account'])
    const after = await ada.page('/account')
    assert.match(after.text, /Your e-mail address stays as it is\./)
    assert.doesNotMatch(after.text, /ada@example\.org/)
    assert.equal(await count(site, 'one_time_tokens'), 0)
    assert.equal((await ada.json(`${path}/cancel`, {})).status, 204)
  })

  test('gets no link if it is cancelled or replaced before its mail is sent', async (t) => {
    const { site, ada } = await siteWithAda(t, {}, { isVerified: false })
    await ada.json(path, change)
    await ada.json(`${path}/cancel`, {})
    assert.deepEqual(await receiveMails(site), [])
    await ada.json(path, change)
    await ada.json(path, { email: 'ada@example.net', password })
    assert.equal((await receiveMail(site)).to, 'ada@example.net')
  })

  test('Q8 expires after 24 hours, even if the mail was sent late', async (t) => {
    const { site, ada } = await siteWithAda(t, {}, { isVerified: false })
    await ada.json(path, change)
    await sql(site, 'update one_time_tokens set expires_at = expires_at - ?', [20 * 60 * 60_000])
    const { text } = await receiveMail(site)
    assert.match(text, /works once, for 4 hours\./)
    await sql(site, 'update one_time_tokens set expires_at = expires_at - ?', [4 * 60 * 60_000])
    assert.doesNotMatch((await ada.page('/account')).text, /ada@example\.org/)

    await ada.json(path, change)
    await sql(site, 'update one_time_tokens set expires_at = 1')
    assert.deepEqual(await receiveMails(site), [])
  })

  test('is deleted when the password changes or the account is closed', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    await ada.json(path, change)
    const next = 'eight wise canaries 1816'
    site.secrets.add(next)
    const body = { currentPassword: password, password: next, confirmPassword: next }
    assert.equal((await ada.json('/account/password', body)).status, 200)
    assert.equal(await count(site, 'one_time_tokens'), 0)
    const mails = await receiveMails(site)
    assert.deepEqual(
      mails.map(({ to }) => to),
      [person.email, person.email],
    )
    await ada.json(path, { email, password: next })
    await ada.json('/account/close', { password: next })
    assert.equal(await count(site, 'one_time_tokens'), 0)
    assert.ok((await receiveMails(site)).every(({ to }) => to !== email))
  })
})

/** A site with a user who is signed in. */
async function siteWithAda(
  t: TestContext,
  environment: Record<string, string> = {},
  { isVerified = true } = {},
) {
  const site = await startSite(t, environment)
  const person = await signUp(site)
  if (isVerified) await verify(site, person.id)
  const ada = await signIn(site, person)
  await receiveMails(site)
  return { site, person, ada }
}

function verify(site: Site, id: string) {
  return sql(site, 'update users set email_verified_at = ? where id = ?', [Date.now(), id])
}
