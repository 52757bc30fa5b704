import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { example } from './testing/program.ts'

describe('examples/redirect.ts', () => {
  const program = example('redirect.ts')
  const right = { username: 'ada', password: 'analytical-engine' }

  function assertLeadsTo(response: Response, location: string) {
    assert.equal(response.status, 303)
    assert.equal(response.headers.get('location'), location)
  }

  test('S67 redirects a visitor to the sign-in page with a flag, and the flag makes the page show the reason', async () => {
    const browser = new Browser(program.url)

    assertLeadsTo(await browser.get('/account'), '/login?loginRequired=true')
    assert.match(await (await browser.get('/login?loginRequired=true')).text(), /Please log in first/)
    assert.doesNotMatch(await (await browser.get('/login')).text(), /Please log in first/)
  })

  test('S67 keeps the requested page in the URL of the form, and redirects to it after the sign-in', async () => {
    const browser = new Browser(program.url)
    const login = '/login?next=%2Forders%3Fpage%3D2'

    assertLeadsTo(await browser.get('/orders?page=2'), login)
    assertLeadsTo(await browser.post(login, right), '/orders?page=2')
    const response = await browser.get('/orders?page=2')
    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'The orders of Ada')
    assert.equal(await (await browser.get('/account')).text(), 'The account of Ada')
    assertLeadsTo(await browser.get('/login'), '/account')
  })

  test('rejects a form from another site', async () => {
    const browser = new Browser(program.url)

    assert.equal((await browser.post('/login', right, { 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.equal(browser.cookie, '')
  })

  test('S89 sends a cookie with SameSite=Lax and HttpOnly, and rejects a cookie with a wrong signature', async () => {
    const browser = new Browser(program.url)
    const response = await browser.post('/login', right)
    const lines = response.headers.getSetCookie()
    assert.equal(lines.length, 2)
    for (const line of lines) assert.match(line, /; samesite=lax; httponly$/)

    browser.cookie = browser.cookie.replace(/(?<=session\.sig=)./, (first) => (first === 'A' ? 'B' : 'A'))

    assertLeadsTo(await browser.get('/account'), '/login?loginRequired=true')
  })
})
