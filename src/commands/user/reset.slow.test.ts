import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dump, sql } from '../../testing/database.ts'
import { signUp } from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { loginStatus, startWithUserCommand } from '../../testing/user-command.ts'

const another = 'correct horse battery'
const passwords = { password: another, confirmPassword: another }
const production = { NODE_ENV: 'production', BCRYPT_COST: '10', PUBLIC_URL: 'https://auth.example' }

describe('reset', () => {
  test('R3 mails a link to choose a new password, and does not print the link', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site)
    await receiveMails(site)
    const { code, out, errors } = await user('reset ada@example.com')
    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /^The running site mails a link to ada@example\.com\./)
    assert.doesNotMatch(out, /token/)
    assert.equal(await loginStatus(site, ada), 200)
    const { to, token } = await receiveMail(site)
    assert.equal(to, ada.email)
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
    assert.equal(await loginStatus(site, ada, another), 200)
  })

  test('rejects an unknown account, a disabled account, and a site without mail', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site)
    await receiveMails(site)
    const before = await dump(site)
    assertRefused(await user('reset eve@example.com'), /There is no user eve@example\.com/)
    assertRefused(await user('reset ada@example.com', '', production), /SMTP_URL is not set.+reset-link/)
    await sql(site, 'update users set disabled_at = 1')
    assertRefused(await user('reset ada@example.com'), /is disabled/)
    await sql(site, 'update users set disabled_at = null')
    assert.deepEqual([await dump(site), await receiveMails(site)], [before, []])
  })
})

describe('add --invite', () => {
  test('R3 creates an account, and mails a link to choose its first password', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const { code, out, errors } = await user('add ada@example.com --name Ada --invite')
    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /^Added the user ada@example\.com[\s\S]+within 24 hours\./)
    const { to, text, token } = await receiveMail(site)
    assert.equal(to, 'ada@example.com')
    assert.match(text, /works once, for 24 hours\./)
    const page = await site.visitor().page(`/reset?token=${token}`)
    assert.match(page.text, /<h1>Choose your password<\/h1>/)
    assert.doesNotMatch(page.text, /signs out all sessions/)
    assert.equal((await site.visitor().json('/reset', { token, ...passwords })).status, 204)
    assert.equal(await loginStatus(site, { email: 'ada@example.com' }, another), 200)
    assert.equal((await site.visitor().page(`/reset?token=${token}`)).status, 410)
    const [ada] = await sql(site, 'select email_verified_at from users')
    assert.notEqual(ada?.email_verified_at, null)
  })

  test('rejects --invite for an admin, with --generate, and without mail', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const before = await dump(site)
    for (const [more, variables, expected] of [
      [' --admin', {}, /--invite cannot be combined/],
      [' --generate', {}, /--invite cannot be combined/],
      ['', production, /SMTP_URL is not set/],
    ] as const) {
      const { code, errors } = await user(`add ada@example.com --name Ada --invite${more}`, '', variables)
      assert.notEqual(code, 0)
      assert.match(errors, expected)
    }
    assert.deepEqual([await dump(site), await receiveMails(site)], [before, []])
  })
})
