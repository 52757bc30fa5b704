import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signUp } from '../../testing/people.ts'
import { startWithUserCommand } from '../../testing/user-command.ts'

describe('list', () => {
  test('prints a table or JSON, without a hash', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site, 'Bob')
    await signUp(site, 'Ada', { email: 'ada.lovelace@example.com' })
    await user('disable bob@example.com')

    const { out } = await user('list')
    const lines = out.replace(/\d{4}-\d\d-\d\d/g, 'YYYY-MM-DD').split('\n')
    assert.deepEqual(lines, [
      'E-MAIL                    STATE     CREATED     NAME',
      'ada.lovelace@example.com  active    YYYY-MM-DD  Ada',
      'bob@example.com           disabled  YYYY-MM-DD  Bob',
      '',
    ])

    const [ada, bob] = JSON.parse((await user('list --json')).out)
    assert.deepEqual(Object.keys(ada), ['id', 'name', 'email', 'createdAt', 'disabledAt'])
    assert.deepEqual(
      [ada.email, ada.disabledAt, bob.email],
      ['ada.lovelace@example.com', null, 'bob@example.com'],
    )
    assert.ok(Date.parse(bob.disabledAt))
  })

  test('prints one line if there are no accounts', async (t) => {
    const { user, database } = await startWithUserCommand(t)

    assert.equal((await user('list')).out, `There are no users in ${database} yet.\n`)
    assert.deepEqual(JSON.parse((await user('list --admin --json')).out), [])
  })
})
