import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { password } from '../../testing/people.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const good = ['/account/sessions?before=x&a=%2F#new', '/loginx', '/login/more', '/users/login', '/?/login']

// The paths of sign-in, sign-out and sign-up, and paths that are too long.
const dropped = [
  ...['/login', '/login?next=%2Flogin', '/login#top', '/logout', '/logout?x', '/signup', '/signup?x=1'],
  ...['/./login', '/a/../logout', '/%2e/login', '/%6cogin?x', '/LOGIN', '/%4cog%49n'],
  ...[`/${'a'.repeat(2048)}`, `/?${'a'.repeat(3000)}`],
]

describe('the redirect after sign-in', () => {
  test('H3 leads to the requested page with its query and fragment, but never to `/login`, `/logout` or `/signup`', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const expected = [
      ...good.map((next) => [next, next]),
      ...dropped.map((next) => [next, '/account']),
    ] as const
    for (const [next = '', to] of expected) {
      const { status, headers } = await site
        .visitor()
        .form('/login', { username: person.email, password, next })
      assert.deepEqual([status, headers.location], [303, to], next.slice(0, 40))
      const link = await ada.page(`/login?next=${encodeURIComponent(next)}`)
      assert.deepEqual([link.status, link.headers.location], [303, to], next.slice(0, 40))
    }
    for (const path of [
      '/account',
      '/account/sessions?before=1&x=%2F',
      '/account/sessions',
      '/account/activity',
    ]) {
      const sent = await site.visitor().page(path)
      assert.equal(sent.headers.location, `/login?next=${encodeURIComponent(path)}`)
    }
    const posted = await site.visitor().form('/account/name', { name: 'Eve' })
    assert.equal(posted.headers.location, '/login', 'a form post is not a redirect target')
  })
})
