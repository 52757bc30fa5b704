import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Browser } from '../src/auth/testing/browser.ts'
import { example } from './testing/program.ts'

const right = { username: 'ada', password: 'analytical-engine' }

describe('examples/confirm.ts', () => {
  const clock = join(import.meta.dirname, 'testing', 'clock.ts')
  const program = example('confirm.ts', { args: ['--import', clock] })

  function assertLeadsTo(response: Response, location: string) {
    assert.deepEqual([response.status, response.headers.get('location')], [303, location])
  }

  test('asks for the password ten minutes after the sign-in, and leads back to the page', async () => {
    const browser = new Browser(program.url)
    assertLeadsTo(await browser.get('/close'), '/login?next=%2Fclose')
    assertLeadsTo(await browser.post('/login?next=%2Fclose', right), '/close')
    assert.match(await (await browser.get('/close', { 'x-minutes-later': '9' })).text(), /Close the account/)

    assertLeadsTo(await browser.get('/close', { 'x-minutes-later': '2' }), '/confirm?next=%2Fclose')
    const refused = await browser.post('/close')
    assert.equal(refused.status, 401)
    assert.match(await refused.text(), /^Confirm that it is you/)

    const { cookie } = browser
    const wrong = await browser.post('/confirm?next=%2Fclose', { password: 'wrong' })
    assert.deepEqual([wrong.status, browser.cookie], [401, cookie])
    assertLeadsTo(await browser.get('/close'), '/confirm?next=%2Fclose')

    assertLeadsTo(await browser.post('/confirm?next=%2Fclose', { password: right.password }), '/close')
    assert.match(await (await browser.get('/close')).text(), /Close the account of Ada/)
    assert.equal(await (await browser.post('/close')).text(), 'The account of Ada is closed.')
  })

  test('needs a session for the confirmation', async () => {
    const browser = new Browser(program.url)
    assertLeadsTo(await browser.post('/confirm', { password: right.password }), '/login')
    assert.equal(browser.cookie, '')
  })
})
