import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic } from '../../testing/people.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { loginStatus, startWithUserCommand } from '../../testing/user-command.ts'
import { User } from '../../users/user.ts'

const another = 'correct horse battery'

describe('add', () => {
  test('creates a user who can sign in, with a given or a generated password', async (t) => {
    const { site, user, em, database } = await startWithUserCommand(t)
    const outcome = await user('add Ada@example.com --name Ada', `${another}\n`)

    assert.deepEqual(outcome, {
      code: 0,
      out: `Added the user Ada@example.com to ${database}.\n`,
      errors: '',
    })
    assert.equal(await loginStatus(site, { email: 'Ada@example.com' }, another), 200)
    const { name, emailKey } = await em().findOneOrFail(
      User,
      { email: 'Ada@example.com' },
      { populate: ['emailKey'] },
    )
    assert.deepEqual([name, emailKey], ['Ada', 'ada@example.com'])

    const { out } = await user('add bob@example.com --name Bob --generate')
    const [, made = ''] = /shown this once: (\S+)\n$/.exec(out) ?? []
    assert.match(made, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/)
    assert.equal(await loginStatus(site, { email: 'bob@example.com' }, made), 200)
  })

  test('creates an admin, who is not a user', async (t) => {
    const { site, user, em } = await startWithUserCommand(t)
    const { out } = await user('add ada@example.com --name Ada --admin', `${another}\r\n`)
    const { record } = await site.visitor().get('/secure', basic({ email: 'ada@example.com' }, another))

    assert.match(out, /^Added the admin ada@example\.com /)
    assert.equal(record.as, 'Admin')
    assert.equal(await em().count(User), 0)
  })

  test('applies the rules of sign-up', async (t) => {
    const { user, em } = await startWithUserCommand(t)
    const ada = 'add ada@example.com --name Ada'

    assertRefused(await user('add ada --name Ada', another), /^Enter an e-mail address like/)
    assertRefused(await user('add ada@example.com --name \u202Eada', another), /^The name contains/)
    assertRefused(await user(ada, 'ada@example.com\n'), /made of your name, your e-mail/)
    assertRefused(await user(ada, ''), /^Standard input contains no password/)
    assert.equal(await em().count(User), 0)
  })
})
