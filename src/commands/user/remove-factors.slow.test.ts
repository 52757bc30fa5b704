import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { basic, password, signUp } from '../../testing/people.ts'
import { receiveMails } from '../../testing/receive-mails.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { storePasskey } from '../../testing/store-passkey.ts'
import { loginStatus, startWithUserCommand } from '../../testing/user-command.ts'

describe('remove-factors', () => {
  test('T13 removes the app, the recovery codes and the passkeys of the named user only', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const app = await turnOnApp(site, ada)
    await turnOnApp(site, bob)
    for (const person of [ada, bob]) await storePasskey(site, person)
    const pending = site.visitor()
    await pending.form('/login', { username: ada.email, password })

    const { code, out } = await user('remove-factors ada@example.com')
    assert.equal(code, 0)
    assert.equal(
      out,
      'The authenticator app, the passkeys and the connected accounts of ada@example.com were removed. Sign-in now needs only the password. For an account without one: npm run user -- reset-link ada@example.com\n',
    )
    assert.deepEqual([await loginStatus(site, ada), await loginStatus(site, bob)], [200, 403])
    assert.equal(
      (await pending.form('/login/code', { code: app.nextCode() })).headers.location,
      '/login?expired',
    )
    for (const [table, left] of Object.entries({ totp_factors: 1, recovery_codes: 10, passkeys: 1 })) {
      const rows = await sql(site, `select user_id from ${table}`)
      assert.deepEqual([rows.length, rows[0]?.user_id], [left, bob.id], table)
    }
    assert.equal((await app.visitor.get('/me')).status, 200, 'sessions continue')

    const page = await app.visitor.page('/account/activity')
    assert.match(page.text, /removed by the operator of the site/)
    const { text } = await site.visitor().get('/account/activity', basic(ada))
    assert.match(text, /"event":"second factors removed","address":"","device":"A program \(npm-run-user\)"/)
  })

  test('T13 queues a notice to a verified address, even of a disabled account', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site)
    await turnOnApp(site, ada)
    await sql(site, 'update users set email_verified_at = 1')
    await receiveMails(site)
    await user('disable ada@example.com')
    await user('remove-factors ada@example.com')
    await user('enable ada@example.com')
    assert.equal(await loginStatus(site, ada), 200)
    const [mail, ...others] = await receiveMails(site)
    assert.deepEqual(others, [])
    assert.equal(mail?.subject, 'Your authenticator app and passkeys were removed at koa-authenticators')
    assert.match(mail.text, /^Device: The operator of the site$/m)
  })

  test('T13 records no event for a user without a second factor', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site)
    await sql(site, 'delete from events')
    assert.equal(
      (await user('remove-factors ada@example.com')).out,
      'The user ada@example.com has no authenticator app, no passkeys and no connected accounts.\n',
    )
    assert.deepEqual(await sql(site, 'select * from events'), [])
    assertRefused(await user('remove-factors eve@example.com'), /^There is no user/)
  })
})
