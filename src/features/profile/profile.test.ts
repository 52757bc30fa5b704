import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'

describe('GET /account', () => {
  test('leads to every part of the account, and each of them is there, kept by no cache', async (t) => {
    const site = await startSite(t)
    const ada = await signIn(site, await signUp(site))
    const { text, headers } = await ada.page('/account')
    assert.equal(headers['cache-control'], 'no-store')
    const links = new Set([...text.matchAll(/href="(\/account\/[^"]*)"/g)].map(([, link]) => link ?? ''))
    assert.deepEqual(
      [...links].sort(),
      ['activity', 'close', 'password', 'sessions', 'tokens'].map((part) => `/account/${part}`),
    )
    for (const link of links) {
      const answer = await ada.page(link)
      assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store'], link)
      assert.match(answer.text, /<form method="post" action="\/logout">/, 'signing out is always at hand')
      const stranger = await site.visitor().page(link)
      assert.equal(stranger.headers.location, `/login?next=${encodeURIComponent(link)}`)
    }
  })

  test('has the form for the name, and says when the password was changed last', async (t) => {
    const site = await startSite(t)
    const ada = await signIn(site, await signUp(site))
    await sql(site, 'update users set password_changed_at = ?', [Date.UTC(2026, 1, 3, 4, 5)])
    const { text } = await ada.page('/account')
    assert.match(text, /<form class="form-side" method="post" action="\/account\/name"/)
    assert.match(text, /<input id="name" name="name" type="text" autocomplete="name"[^>]*value="Ada"/)
    assert.match(text, /<time datetime="2026-02-03T04:05:00\.000Z">3 February 2026 at 04:05 UTC<\/time>/)
  })

  test('says nothing that somebody else put into a link', async (t) => {
    const site = await startSite(t)
    const ada = await signIn(site, await signUp(site))
    const { text } = await ada.page('/account?notice=Your+password+has+been+changed&changed=1')
    assert.doesNotMatch(text, /role="status"|has been changed/)
  })
})
