import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dump, sql } from '../../testing/database.ts'
import { basic } from '../../testing/people.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const path = '/account/name'

describe('GET /account', () => {
  test('links to the pages of the account, and each responds with 200 and no-store', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await sql(site, 'update users set created_at = ?', [Date.UTC(2026, 1, 3)])
    const { text, headers } = await ada.page('/account')
    assert.equal(headers['cache-control'], 'no-store')
    const links = new Set([...text.matchAll(/href="(\/account\/[^"]*)"/g)].map(([, link]) => link ?? ''))
    for (const part of ['activity', 'close', 'email', 'security', 'sessions'])
      assert.ok(links.has(`/account/${part}`), part)
    for (const link of links) {
      const answer = await ada.page(link)
      assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store'], link)
      assert.match(answer.text, /<form method="post" action="\/logout">/, 'every page can sign out')
      const anonymous = await site.visitor().page(link)
      assert.equal(anonymous.headers.location, `/login?next=${encodeURIComponent(link)}`)
    }
  })

  test('has a form for the name, and shows the time of the sign-up', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await sql(site, 'update users set created_at = ?', [Date.UTC(2026, 1, 3, 4, 5)])
    const { text } = await ada.page('/account')
    assert.match(text, /<form method="post" action="\/account\/name"/)
    assert.match(text, /<input id="name" name="name" type="text" autocomplete="name"[^>]*value="Ada"/)
    assert.match(text, /<time datetime="2026-02-03T04:05:00\.000Z" title="3 February 2026 at 04:05 UTC">/)
    assert.match(text, /Member since/)
  })

  test('shows the first steps to a new user, until the account is a day old', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const page = async () => (await ada.page('/account', { host: 'localhost:3000' })).text
    const stepsOf = (text: string) => [...text.matchAll(/<h3>([^<]+)/g)].map(([, step]) => step)
    const text = await page()
    assert.match(text, /Welcome, <bdi>Ada<\/bdi>/)
    assert.deepEqual(stepsOf(text), [
      'Confirm your e-mail address',
      'Add a passkey',
      'Set up an authenticator app',
    ])
    await sql(site, 'update users set email_verified_at = created_at')
    assert.match(await page(), /Confirm your e-mail address <span class="badge">Done/)
    await sql(site, 'update users set created_at = ?', [Date.now() - 25 * 60 * 60_000])
    assert.doesNotMatch(await page(), /Welcome,/)
  })

  test('offers a passkey once after a sign-in with the password', async (t) => {
    const { site, ada } = await siteWithAda(t)
    await sql(site, 'update users set created_at = ?', [Date.UTC(2026, 1, 3)])
    const offer = /Next time, skip the password/
    assert.doesNotMatch(
      (await ada.page('/account')).text,
      offer,
      'browsers support no passkeys at an IP address',
    )
    const page = async () => (await ada.page('/account', { host: 'localhost:3000' })).text
    assert.match(await page(), offer)
    assert.doesNotMatch(await page(), offer)
  })

  test('shows no text from a crafted link', async (t) => {
    const { ada } = await siteWithAda(t)
    const { text } = await ada.page('/account?notice=Your+password+has+been+changed&changed=1')
    assert.doesNotMatch(text, /role="alert"|has been changed/)
  })
})

describe('POST /account/name', () => {
  test('changes the name, redirects to the account with 303, and shows the notice once', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const { status, headers } = await ada.form(path, { name: '  Ada, Countess of Lovelace ' })
    assert.deepEqual([status, headers.location], [303, '/account'])
    const { text } = await ada.page('/account')
    assert.match(text, /<p>Your name has been changed\./)
    assert.match(text, /<bdi>Ada, Countess of Lovelace<\/bdi>/)
    assert.match(
      text,
      /<input id="name" name="name" type="text" autocomplete="name"[^>]*value="Ada, Countess of Lovelace"/,
    )
    assert.doesNotMatch((await ada.page('/account')).text, /has been changed/)
    assert.deepEqual(await sql(site, 'select name from users'), [{ name: 'Ada, Countess of Lovelace' }])
  })

  test('returns the record as JSON by session and by Basic, and Basic starts no session', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const bySession = await ada.json(path, { name: 'Ada 2' })
    assert.deepEqual([bySession.status, bySession.record], [200, { ...person, name: 'Ada 2' }])
    const byBasic = await site.visitor().json(path, { name: 'Ada 3' }, basic(person))
    assert.deepEqual(
      [byBasic.status, byBasic.record, byBasic.cookies],
      [200, { ...person, name: 'Ada 3' }, []],
    )
    assert.equal((await ada.get('/me')).record.name, 'Ada 3')
  })

  test('applies the rules of sign-up, and shows the form again with the typed value', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    const bad = ['', '  ', 'x'.repeat(101), 'a\nb', 'a\0b', '\u202eabc', '\u200b\u200d', '\u0007']
    for (const name of bad) {
      const { status, record } = await ada.json(path, { name })
      const fields = (record.errors as { field: string }[]).map(({ field }) => field)
      assert.deepEqual([status, fields], [400, ['name']], JSON.stringify(name))
      const form = await ada.form(path, { name })
      assert.equal(form.status, 400)
      assert.match(form.text, /<title>Error: Profile/)
      assert.match(form.text, /<a href="#name">/)
    }
    const { text } = await ada.form(path, { name: `"><script>${'x'.repeat(100)}` })
    assert.match(text, /value="&quot;&gt;&lt;script&gt;x/)
    assert.match(text, /<bdi>Ada<\/bdi>/, 'the header shows the stored name')
    for (const name of [undefined, null, 1, true, ['Ada'], { $ne: '' }])
      assert.equal((await ada.json(path, { name })).status, 400)
    assert.deepEqual(await dump(site), before)
  })
})
