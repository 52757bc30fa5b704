import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { v7 as uuidv7 } from 'uuid'
import { signUp, takeToken } from '../../testing/people.ts'
import { assertRefused, type Outcome } from '../../testing/run-command.ts'
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
      'STATE     FACTORS       CREATED     E-MAIL  NAME',
      'active    app, passkey  YYYY-MM-DD  ada.lovelace@example.com  Ada',
      'disabled  none          YYYY-MM-DD  bob@example.com  Bob',
      '',
    ])

    const [ada, bob] = jsonLines(await user('list --json'))
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
    const listed = jsonLines(await user('list --json'))
    assert.deepEqual(
      listed.map(({ email }) => email),
      emails,
    )
    assert.equal((await user('list')).out.split('\n').length, emails.length + 2)
  })

  test('prints only the accounts with a factor if wanted', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site, 'Bob')
    await turnOnApp(site, await signUp(site, 'Ada'))
    await user('disable bob@example.com')
    const listed = async (filters: string) =>
      jsonLines(await user(`list --json ${filters}`)).map(({ name }) => name)
    assert.deepEqual(await listed('--with-factors'), ['Ada'])
    assert.deepEqual(await listed(''), ['Ada', 'Bob'])
  })

  test('prints one line if there are no accounts', async (t) => {
    const { user, database } = await startWithUserCommand(t)

    assert.equal((await user('list')).out, `There are no such users in ${database}.\n`)
    assert.equal((await user('list --admin --json')).out, '')
  })
})

describe('show', () => {
  test('prints the numbers and the last uses of what signs in to an account', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site, 'Ada')
    await turnOnApp(site, ada)
    await storePasskey(site, ada)
    await takeToken(site, await signUp(site, 'Bob'))
    const [record] = jsonLines(await user('show ada@example.com --json'))
    const { hasPassword, recoveryCodes, passkeys, passkeyUsedAt, sessions, tokens } = record
    assert.deepEqual([hasPassword, recoveryCodes, passkeys, passkeyUsedAt, tokens], [true, 10, 1, null, 0])
    assert.equal(sessions, 1)
    const { out } = await user('show bob@example.com')
    assert.match(out, /^email {13}bob@example\.com$/m)
    assert.match(out, /^tokens {12}1\ntokenUsedAt {7}never$/m)
  })

  test('names the option --admin if only an admin has the address', async (t) => {
    const { user } = await startWithUserCommand(t)
    await user('add eve@example.com --name Eve --admin --generate')
    assertRefused(await user('show eve@example.com'), /There is an admin with this address: add --admin\.\n$/)
    assert.match((await user('show eve@example.com --admin')).out, /^name {14}Eve$/m)
  })
})

function jsonLines({ out }: Outcome) {
  return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
