import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { storePasskey } from '../../testing/store-passkey.ts'
import { startWithUserCommand } from '../../testing/user-command.ts'

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
      ...['id', 'name', 'email', 'createdAt', 'disabledAt', 'totp', 'passkeys'],
    ])
    assert.deepEqual(
      [ada.email, ada.disabledAt, ada.totp, ada.passkeys, bob.email, bob.totp, bob.passkeys],
      ['ada.lovelace@example.com', null, true, 1, 'bob@example.com', false, 0],
    )
    assert.ok(Date.parse(bob.disabledAt))
  })

  test('prints one line if there are no accounts', async (t) => {
    const { user, database } = await startWithUserCommand(t)

    assert.equal((await user('list')).out, `There are no users in ${database} yet.\n`)
    assert.deepEqual(JSON.parse((await user('list --admin --json')).out), [])
  })
})
