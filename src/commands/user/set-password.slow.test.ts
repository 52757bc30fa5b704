import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { addAdmin, signUp } from '../../testing/people.ts'
import { receiveMail, receiveMails } from '../../testing/receive-mails.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { loginStatus, signInWithEachCredential, startWithUserCommand } from '../../testing/user-command.ts'
import { User } from '../../users/user.ts'

const another = 'correct horse battery'

describe('set-password', () => {
  test('changes the password and ends the sessions and tokens of the named user only', async (t) => {
    const { site, user, em } = await startWithUserCommand(t)
    const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const [forAda, forBob] = [
      await signInWithEachCredential(site, ada),
      await signInWithEachCredential(site, bob),
    ]
    const before = new Date()
    const { code, out } = await user('set-password ada@example.com', `${another}\n`)

    assert.equal(code, 0)
    assert.equal(out, 'The user ada@example.com has a new password. Sessions and tokens have ended.\n')
    assert.deepEqual([await loginStatus(site, ada), await loginStatus(site, ada, another)], [401, 200])
    assert.deepEqual((await forAda()).slice(0, 2), [401, 401])
    // A new `passwordChangedAt` ends older JWTs.
    assert.ok((await em().findOneOrFail(User, ada.id)).passwordChangedAt >= before)
    assert.deepEqual(await forBob(), [200, 200, 200])
  })

  test('Q5 R2 mails a notice to a verified address, but not for an admin or from a site without mail', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site)
    await addAdmin(site)
    await receiveMails(site)
    await user('set-password ada@example.com', another)
    assert.deepEqual(await receiveMails(site), [], 'an unverified address')

    await sql(site, 'update users set email_verified_at = 1')
    await user('set-password grace@example.com --admin', another)
    const production = { NODE_ENV: 'production', BCRYPT_COST: '10' }
    await user('set-password ada@example.com', another, production)
    assert.deepEqual(await receiveMails(site), [], 'an admin, and a site without mail')

    await user('set-password ada@example.com', another)
    const { to, subject, text } = await receiveMail(site)
    assert.deepEqual([to, subject], ['ada@example.com', 'Your password was changed at koa-authenticators'])
    assert.match(text, /^Hello Ada,$/m)
    assert.match(text, /^Device: The operator of the site$/m)
    assert.doesNotMatch(text, /Network|undefined/)
    assert.match(text, /^If it was not you, choose a new password\./m)
  })

  test('resets the rate limit of the named account only', async (t) => {
    const { site, user } = await startWithUserCommand(t, { THROTTLE: 'on' })
    const [ada, bob] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    for (const person of [ada, bob])
      for (let i = 0; i < 10; i++) assert.equal(await loginStatus(site, person, 'a wrong password'), 401)
    assert.equal(await loginStatus(site, ada), 429)
    await user('set-password ada@example.com', another)

    assert.deepEqual([await loginStatus(site, ada, another), await loginStatus(site, bob)], [200, 429])
  })

  test("rejects a bad password, an address in another letter case, and a user's address with --admin, and changes nothing", async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site)
    const statuses = await signInWithEachCredential(site, ada)

    assertRefused(
      await user('set-password ada@example.com', 'example.com\n'),
      /made of your name, your e-mail/,
    )
    for (const words of ['ADA@example.com', 'ada@example.com --admin', "'or'1'='1"]) {
      assertRefused(await user(`set-password ${words}`, another), /^There is no (user|admin) .* in .+\./)
    }
    assert.equal(await loginStatus(site, ada), 200)
    assert.deepEqual(await statuses(), [200, 200, 200])
  })
})
