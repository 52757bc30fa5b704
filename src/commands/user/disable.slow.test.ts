import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addAdmin, signUp } from '../../testing/people.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { loginStatus, signInWithEachCredential, startWithUserCommand } from '../../testing/user-command.ts'
import { Admin } from '../../users/admin.ts'
import { User } from '../../users/user.ts'

const another = 'correct horse battery'

describe('disable, enable, delete', () => {
  test('disable blocks sign-in and ends sessions and tokens, and enable allows sign-in again', async (t) => {
    const { site, user, em } = await startWithUserCommand(t)
    const ada = await signUp(site)
    const statuses = await signInWithEachCredential(site, ada)
    const disabledAt = async () => (await em().findOneOrFail(User, ada.id, { filters: false })).disabledAt

    // A mistake in the mail settings does not stop the operator.
    const { out } = await user('disable ada@example.com', '', { SMTP_URL: 'nonsense' })
    assert.equal(out, 'The user ada@example.com is disabled. Sessions and tokens have ended.\n')
    assert.deepEqual(await statuses(), [401, 401, 401])
    assert.equal(await loginStatus(site, ada), 401)

    const first = await disabledAt()
    assert.equal((await user('disable ada@example.com')).code, 0)
    assert.deepEqual(await disabledAt(), first)
    await user('set-password ada@example.com', another)
    assert.equal(await loginStatus(site, ada, another), 401)

    assert.equal((await user('enable ada@example.com')).out, 'The user ada@example.com is enabled.\n')
    assert.equal(await loginStatus(site, ada, another), 200)
    assert.deepEqual((await statuses()).slice(0, 2), [401, 401])
  })

  test('delete removes an account, even a disabled one, with its sessions and tokens', async (t) => {
    const { site, user, em } = await startWithUserCommand(t)
    const [ada] = [await signUp(site, 'Ada'), await signUp(site, 'Bob')]
    const statuses = await signInWithEachCredential(site, ada)
    await user('disable bob@example.com')

    assert.equal((await user('delete ada@example.com')).out, 'The user ada@example.com is deleted.\n')
    assert.equal((await user('delete bob@example.com')).code, 0)
    assert.deepEqual(await statuses(), [401, 401, 401])
    assert.equal(await em().count(User, {}, { filters: false }), 0)
    assertRefused(await user('delete ada@example.com'), /^There is no user/)
  })

  test('--admin selects the admin and not the user with the same address', async (t) => {
    const { site, user, em } = await startWithUserCommand(t)
    const [ada] = [await signUp(site, 'Ada'), await addAdmin(site, 'Ada')]
    const statuses = await signInWithEachCredential(site, ada)

    assert.equal((await user('disable ada@example.com --admin')).code, 0)
    assert.deepEqual([await em().count(Admin), await em().count(User)], [0, 1])
    assert.equal((await user('delete ada@example.com --admin')).code, 0)
    assert.equal(await em().count(Admin, {}, { filters: false }), 0)
    assert.deepEqual(await statuses(), [200, 200, 200])
  })
})
