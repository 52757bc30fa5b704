import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { siteWithPasskeys } from '../../testing/passkeys.ts'

describe('own passkeys', () => {
  test('U8 are deleted with the account', async (t) => {
    const { site, withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey()
    await sql(site, 'delete from users')
    assert.deepEqual(await sql(site, 'select * from passkeys'), [])
    assert.deepEqual(await signIn(from), { isValid: false })
  })
})
