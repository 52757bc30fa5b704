import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { lockDatabase } from '../testing/lock-database.ts'
import { basic, bearer, signUp, takeJWT } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { setBcryptCost } from './password.ts'

describe('a signed token', () => {
  test('E10 J9 M6 is invalid if it is issued for the old password while the password changes', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    // Because the cost has changed, the sign-in stores a new hash. That write waits for the lock, after the password is verified.
    setBcryptCost(5)
    const other = await lockDatabase(t, site)
    const response = site.visitor().post('/login?as=jwt', basic(ada))
    await other.waitForStatement(/^select count.* from `users`.*credentials_version/)
    await other.release('update users set password_changed_at = ?', Math.floor(Date.now() / 1000) * 1000 - 1)
    const { status, record } = await response
    assert.equal(status, 200)
    for (const path of ['/me', '/secure'])
      assert.equal((await site.visitor().get(path, bearer(String(record.token)))).status, 401, path)
  })

  test('J9 is valid even if `iat` is earlier than the claim `passwordChangedAt`', async (t) => {
    const site = await startSite(t)
    const ada = await signUp(site)
    // The change is at the end of the next second. So it is later than `iat`, even if the sign-in takes a second.
    await sql(site, 'update users set password_changed_at = ?', [Math.ceil(Date.now() / 1000) * 1000 + 999])
    const jwt = await takeJWT(site, ada)
    for (const path of ['/me', '/secure'])
      assert.equal((await site.visitor().get(path, bearer(jwt))).status, 200, path)
    await sql(site, 'update users set password_changed_at = password_changed_at + 1')
    for (const path of ['/me', '/secure'])
      assert.equal((await site.visitor().get(path, bearer(jwt))).status, 401, path)
  })
})
