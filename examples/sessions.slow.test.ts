import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { bearer } from './testing/headers.ts'
import { example } from './testing/program.ts'

describe('examples/sessions.ts', () => {
  const program = example('sessions.ts')

  test('S61 S62 starts a session for a bearer token, and accepts its cookie without the token', async () => {
    const browser = new Browser(program.url)
    const first = await browser.get('/me', bearer('analytical-engine'))
    const second = await browser.get('/me')

    for (const response of [first, second]) {
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
      assert.equal(await response.text(), 'Ada')
    }
    assert.deepEqual(second.headers.getSetCookie(), [])
  })

  test('S89 sends a cookie that contains only a random identifier, without Secure and HttpOnly', async () => {
    const response = await new Browser(program.url).get('/me', bearer('analytical-engine'))
    const [cookie = '', ...others] = response.headers.getSetCookie()

    assert.match(cookie, /^session=[\w-]{43}; path=\/; expires=[\w ,:]+ GMT$/)
    assert.deepEqual(others, [])
  })

  test('rejects a missing and an invented cookie, and starts no session', async () => {
    for (const cookie of ['', `session=${'A'.repeat(43)}`, 'session=1', 'session=__proto__']) {
      const browser = new Browser(program.url)
      browser.cookie = cookie
      const response = await browser.get('/me')

      assert.equal(response.status, 401)
      assert.ok(!response.headers.getSetCookie().some((line) => /^session=[^;]/.test(line)))
    }
  })

  test('ends the session on the server at sign-out', async () => {
    const browser = new Browser(program.url)
    await browser.get('/me', bearer('analytical-engine'))
    const { cookie } = browser

    assert.equal((await browser.post('/logout')).status, 204)
    assert.equal(browser.cookie, '')
    browser.cookie = cookie
    assert.equal((await browser.get('/me')).status, 401)
  })

  test('rejects a request from another site, and keeps the session', async () => {
    const browser = new Browser(program.url)
    await browser.get('/me', bearer('analytical-engine'))

    assert.equal((await browser.post('/logout', {}, { 'sec-fetch-site': 'cross-site' })).status, 403)

    assert.equal((await browser.get('/me')).status, 200)
  })
})
