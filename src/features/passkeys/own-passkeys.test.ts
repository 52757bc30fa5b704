import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { siteWithPasskeys } from '../../testing/passkeys.ts'
import { signUp } from '../../testing/people.ts'
import { listPasskeys, removePasskey, renamePasskey } from './own-passkeys.ts'

describe('own passkeys', () => {
  test('U8 are listed, renamed and removed', async (t) => {
    const { em, ada, withPasskey, signIn } = await siteWithPasskeys(t)
    const [one, other] = [await withPasskey(), await withPasskey()]
    const [first, second] = await listPasskeys(em(), ada.id)
    assert.deepEqual([first?.credentialId, second?.credentialId], [one.id, other.id])
    const own = { user: ada.id, id: first?.id.toUpperCase() ?? '' }
    assert.equal(await renamePasskey(em(), own, 'Téléphone 🐤'), true)
    assert.deepEqual(
      (await listPasskeys(em(), ada.id)).map(({ name }) => name),
      ['Téléphone 🐤', 'Laptop'],
    )
    assert.deepEqual([await removePasskey(em(), own), await removePasskey(em(), own)], [true, false])
    assert.deepEqual(
      (await listPasskeys(em(), ada.id)).map(({ credentialId }) => credentialId),
      [other.id],
    )
    assert.equal((await signIn(other)).isValid, true)
  })

  test('U8 C6 of another user get the same result as an unknown or malformed id', async (t) => {
    const { site, em, ada, withPasskey } = await siteWithPasskeys(t)
    await withPasskey()
    const [passkey] = await listPasskeys(em(), ada.id)
    const bob = await signUp(site, 'Bob')
    const before = await sql(site, 'select * from passkeys')
    for (const id of [passkey?.id ?? '', bob.id, '', "x' or 1=1", 'x'.repeat(1_000)]) {
      assert.equal(await renamePasskey(em(), { user: bob.id, id }, 'x'), false)
      assert.equal(await removePasskey(em(), { user: bob.id, id }), false)
    }
    assert.deepEqual(await listPasskeys(em(), bob.id), [])
    assert.deepEqual(await sql(site, 'select * from passkeys'), before)
  })

  test('U8 are deleted with the account', async (t) => {
    const { site, withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey()
    await sql(site, 'delete from users')
    assert.deepEqual(await sql(site, 'select * from passkeys'), [])
    assert.deepEqual(await signIn(from), { isValid: false })
  })
})
