import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../testing/database.ts'
import { signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { issueOneTimeToken, OneTimeToken } from '../users/one-time-tokens.ts'
import { User } from '../users/user.ts'
import { issueToken, UserToken } from '../users/user-token.ts'
import { expiredRows } from './expired-rows.ts'

describe('expiredRows', () => {
  test('deletes expired tokens in batches, and no valid token', async (t) => {
    const site = await startSite(t)
    const { id: user } = await signUp(site)
    const now = Date.UTC(2030, 0, 1)
    const em = site.orm.em.fork()
    for (const [name, until] of Object.entries({ long: -1e9, just: 0, 'almost not': 1, not: 1e9, ago: -1 })) {
      em.create(UserToken, { name, value: issueToken().value, user, expiresAt: new Date(now + until) })
    }
    await em.flush()
    const expired = expiredRows(site.orm, UserToken, () => now)
    assert.equal(await expired.purge(2), 2)
    assert.equal(await expired.purge(2), 1)
    assert.equal(await expired.purge(2), 0)
    const left = await sql(site, 'select name from user_tokens order by id')
    assert.deepEqual(
      left.map(({ name }) => name),
      ['almost not', 'not'],
    )
  })

  test('P4 deletes one-time tokens that have expired, or were created over two minutes in the future', async (t) => {
    const site = await startSite(t)
    const now = Date.now()
    const hour = 60 * 60_000
    for (const [name, at] of Object.entries({ Ada: now - hour, Bob: now - hour + 1, Eve: now + 120_001 })) {
      const { id } = await signUp(site, name)
      const em = site.orm.em.fork()
      const account = await em.findOneOrFail(User, id)
      assert.ok(await issueOneTimeToken(em, { purpose: 'reset', account, lifetime: hour }, at))
    }
    const expired = expiredRows(site.orm, OneTimeToken, () => now)
    assert.deepEqual([await expired.purge(1), await expired.purge(500), await expired.purge(500)], [1, 1, 0])
    assert.deepEqual(await sql(site, 'select email from one_time_tokens'), [{ email: 'bob@example.com' }])
  })
})
