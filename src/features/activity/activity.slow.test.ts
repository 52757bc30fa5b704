import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { basic, password, signIn, signUp } from '../../testing/people.ts'
import { type Site, startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'

describe('GET /account/activity', () => {
  test('returns the events of the account, newest first', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    const browser = site.visitor()
    await browser.json('/login', { username: ada.email, password: 'wrong' }, { 'user-agent': firefox })
    await browser.json('/login', { username: ada.email, password }, { 'user-agent': firefox })
    const { status, headers, text } = await browser.get('/account/activity')
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    const events: Record<string, unknown>[] = JSON.parse(text)
    assert.deepEqual(
      events.map(({ id: _id, at: _at, ...event }) => event),
      [
        { event: 'signed in', address: '127.0.0.1', device: 'Firefox on Linux' },
        {
          event: 'credentials refused',
          detail: 'API, JSON',
          address: '127.0.0.1',
          device: 'Firefox on Linux',
        },
        { event: 'signed up', address: '127.0.0.1', device: 'An unknown device' },
      ],
    )
    for (const { id, at } of events) {
      assert.match(String(id), /^[\da-f]{8}-[\da-f-]{27}$/)
      assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  test('returns no events of other accounts', async (t) => {
    const site = await startSite(t)
    const [ada, eve] = [await signUp(site), await signUp(site, 'Eve')]
    await signIn(site, ada)
    const browser = await signIn(site, eve)
    assert.deepEqual(await eventsOf(browser.get('/account/activity')), ['signed in', 'signed up'])
  })

  test('shows a table with a caption, readable events, full times and a link to change the password', async (t) => {
    const { person: ada, ada: browser } = await siteWithAda(t)
    await browser.json('/login', { username: ada.email, password: 'wrong' }, { 'user-agent': firefox })
    const { status, text } = await browser.page('/account/activity')
    assert.equal(status, 200)
    assert.match(text, /<title>Activity &ndash; /)
    assert.match(text, /<caption [^>]*>[^<]+<\/caption>/)
    assert.match(text, /<th role="columnheader" scope="col">When<\/th>/)
    assert.match(
      text,
      /<time datetime="\d{4}-\d\d-\d\dT[\d:.]{12}Z" title="\d{1,2} \w+ \d{4} at \d\d:\d\d UTC">just now<\/time>/,
    )
    const events = [...text.matchAll(/<th role="rowheader"[^>]*>([^<]+)</g)].map(([, event]) => event?.trim())
    assert.deepEqual(events, ['Wrong password', 'Signed in', 'Signed up'])
    assert.match(
      text,
      /There were failed attempts from an unknown device\.[^<]*<a href="\/account\/password">change your password<\/a>/,
    )
  })

  test('warns of a failed attempt of the last week from an unknown device only', async (t) => {
    const { site, person: ada, ada: browser } = await siteWithAda(t)
    const wrong = { username: ada.email, password: 'wrong' }
    const isWarned = async () =>
      (await browser.page('/account/activity')).text.includes('failed attempts from')
    await browser.json('/login', wrong)
    assert.equal(await isWarned(), false)
    await browser.json('/login', wrong, { 'user-agent': firefox })
    assert.equal(await isWarned(), true)
    assert.match(
      (await browser.page('/account/activity')).text,
      /Wrong password[^<]* <span[^>]*>Unknown device</,
    )
    await sql(site, 'update events set at = ? where event = ?', [
      Date.now() - 8 * 24 * 60 * 60_000,
      'credentials refused',
    ])
    assert.equal(await isWarned(), false)
  })

  test('filters the events by kind, and keeps the filter on further pages', async (t) => {
    const { site, person: ada, ada: browser } = await siteWithAda(t)
    await site.visitor().json('/login', { username: ada.email, password: 'wrong' })
    await browser.form('/account/name', { name: 'Ada L' })
    const kind = (name: string) => eventsOf(browser.get(`/account/activity?kind=${name}`))
    assert.deepEqual(await kind('sign-ins'), ['signed in', 'signed up'])
    assert.deepEqual(await kind('changes'), ['name changed'])
    assert.deepEqual(await kind('failed'), ['credentials refused'])
    assert.equal((await kind('nonsense')).length, 4)
    const { text } = await browser.page('/account/activity?kind=failed')
    assert.match(text, /kind=failed" aria-current="page">Failed/)
    for (let i = 0; i < 101; i += 1) await browser.json('/account/name', { name: `${i}` })
    const { headers } = await browser.get('/account/activity?kind=changes')
    assert.match(
      String(headers.link),
      /^<\/account\/activity\?kind=changes&before=[\da-f-]{36}>; rel="next"$/,
    )
  })

  test('returns new names, token names and the form that received a wrong password, and escapes names on the page', async (t) => {
    const { site, person: ada, ada: browser } = await siteWithAda(t)
    await browser.form('/account/name', { name: '<b>Ada' })
    await browser.form('/account/tokens', { name: 'Backup <i>', days: '7' })
    const [{ id }] = JSON.parse((await browser.get('/account/tokens')).text)
    await browser.form(`/account/tokens/${id}/revoke`, {})
    const wrong = { username: ada.email, password: 'wrong' }
    const details: Record<string, string> = {}
    const collect = async () => {
      for (const { event, detail } of JSON.parse((await browser.get('/account/activity')).text))
        details[event] = detail
    }
    await collect()
    assert.equal(details['name changed'], '“Ada” → “<b>Ada”')
    assert.equal(details['token created'], 'Backup <i>')
    assert.equal(details['token revoked'], 'Backup <i>')
    for (const [form, send] of [
      ['Sign-in form', () => site.visitor().form('/login', wrong)],
      ['Change password form', () => browser.form('/account/password', { currentPassword: 'wrong' })],
      ['Confirmation form', () => browser.form('/confirm', { password: 'wrong' })],
      ['Close account form', () => browser.form('/account/close', { password: 'wrong' })],
      ['API, Authorization header', () => site.visitor().get('/account/activity', basic(ada, 'wrong'))],
      ['API, JSON', () => site.visitor().json('/login', wrong)],
    ] as const) {
      await send()
      await collect()
      assert.equal(details['credentials refused'], form)
    }
    const { text } = await browser.page('/account/activity')
    assert.match(text, /<bdi>Backup &lt;i(>|&gt;)<\/bdi>/)
    assert.doesNotMatch(text, /<b>Ada|<i>/)
  })

  test('has older events on further pages, as HTML and as JSON', async (t) => {
    const { ada: browser } = await siteWithAda(t)
    for (let i = 0; i < 150; i += 1) await browser.json('/account/name', { name: `${i}` })
    const first = await browser.get('/account/activity')
    const [, older = ''] =
      /^<(\/account\/activity\?before=[\da-f-]{36})>; rel="next"$/.exec(String(first.headers.link)) ?? []
    const second = await browser.get(older)
    const all = [first, second].flatMap(({ text }) => JSON.parse(text))
    assert.deepEqual(
      [all.length, new Set(all.map(({ id }) => id)).size, second.headers.link],
      [152, 152, undefined],
    )
    assert.deepEqual([all[0].event, all.at(-1).event], ['name changed', 'signed up'])
    assert.match(
      (await browser.page('/account/activity')).text,
      new RegExp(`href="${older.replace('?', '\\?')}">Older events<`),
    )
    assert.match((await browser.page(older)).text, />Signed up</)
    for (const nonsense of ['x', '', '%00', 'a&before=b'])
      assert.equal((await browser.get(`/account/activity?before=${nonsense}`)).status, 200, nonsense)
  })
})

async function eventsOf(response: ReturnType<ReturnType<Site['visitor']>['get']>): Promise<unknown[]> {
  const { status, text } = await response
  assert.equal(status, 200)
  return JSON.parse(text).map(({ event }: { event: unknown }) => event)
}
