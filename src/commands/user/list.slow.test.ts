import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { v7 as uuidv7 } from 'uuid'
import { signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { storePasskey } from '../../testing/store-passkey.ts'
import { startWithUserCommand } from '../../testing/user-command.ts'
import { User } from '../../users/user.ts'

describe('list', () => {
  test('prints a table or JSON, without a hash', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site, 'Bob')
    const person = await signUp(site, 'Ada', { email: 'ada.lovelace@example.com' })
    await turnOnApp(site, person)
    await storePasskey(site, person)
    await user('disable bob@example.com')

    const { out } = await user('list')
    const lines = out.replace(/\d{4}-\d\d-\d\d/g, 'YYYY-MM-DD').split('\n')
    assert.deepEqual(lines, [
      'E-MAIL                    STATE     FACTORS       CREATED     NAME',
      'ada.lovelace@example.com  active    app, passkey  YYYY-MM-DD  Ada',
      'bob@example.com           disabled  none          YYYY-MM-DD  Bob',
      '',
    ])

    const [ada, bob] = JSON.parse((await user('list --json')).out)
    assert.deepEqual(Object.keys(ada), [
      ...['id', 'name', 'email', 'createdAt', 'disabledAt', 'verified', 'totp', 'passkeys'],
    ])
    assert.deepEqual(
      [ada.email, ada.disabledAt, ada.totp, ada.passkeys, bob.email, bob.totp, bob.passkeys],
      ['ada.lovelace@example.com', null, true, 1, 'bob@example.com', false, 0],
    )
    assert.ok(Date.parse(bob.disabledAt))
  })

  test('prints every account of several pages once, in order', async (t) => {
    const { user, em } = await startWithUserCommand(t)
    const emails = Array.from({ length: 2_001 }, (_, i) => `user${String(i).padStart(4, '0')}@example.com`)
    const rows = emails.map((email) => ({
      id: uuidv7(),
      name: 'Ada',
      email,
      emailKey: email,
      passwordHash: 'none',
    }))
    const times = { passwordChangedAt: new Date(), createdAt: new Date() }
    await em().insertMany(
      User,
      rows.map((row) => ({ ...row, ...times })),
    )
    const listed: { email: string }[] = JSON.parse((await user('list --json')).out)
    assert.deepEqual(
      listed.map(({ email }) => email),
      emails,
    )
    assert.equal((await user('list')).out.split('\n').length, emails.length + 2)
  })

  test('prints only the accounts that meet the filters, and show prints one', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site, 'Bob')
    await turnOnApp(site, await signUp(site, 'Ada'))
    await user('disable bob@example.com')
    const listed = async (filters: string) =>
      JSON.parse((await user(`list --json ${filters}`)).out).map(({ name }: { name: string }) => name)
    assert.deepEqual(await listed('--with-factors'), ['Ada'])
    assert.deepEqual(await listed('--without-factors'), ['Bob'])
    assert.deepEqual(await listed('--disabled --unverified'), ['Bob'])
    assert.deepEqual(await listed('--disabled --with-factors'), [])
    assert.equal(JSON.parse((await user('show ada@example.com --json')).out).totp, true)
    assert.match((await user('show ada@example.com')).out, /^E-MAIL .+\nada@example\.com +active +app /)
    assert.equal((await user('show eve@example.com')).code, 1)
  })

  test('prints one line if there are no accounts', async (t) => {
    const { user, database } = await startWithUserCommand(t)

    assert.equal((await user('list')).out, `There are no such users in ${database}.\n`)
    assert.deepEqual(JSON.parse((await user('list --admin --json')).out), [])
  })
})
