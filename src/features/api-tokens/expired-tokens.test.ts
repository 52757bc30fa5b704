import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../testing/database.ts'
import { signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { issueToken, UserToken } from '../../users/user-token.ts'
import { ExpiredTokens } from './expired-tokens.ts'

describe('ExpiredTokens', () => {
  test('deletes expired tokens in batches, and no valid token', async (t) => {
    const site = await startSite(t)
    const { id: user } = await signUp(site)
    const now = Date.UTC(2030, 0, 1)
    const em = site.orm.em.fork()
    for (const [name, until] of Object.entries({ long: -1e9, just: 0, 'almost not': 1, not: 1e9, ago: -1 })) {
      em.create(UserToken, { name, value: issueToken().value, user, expiresAt: new Date(now + until) })
    }
    await em.flush()
    const expired = new ExpiredTokens(site.orm, () => now)
    assert.equal(await expired.purge(2), 2)
    assert.equal(await expired.purge(2), 1)
    assert.equal(await expired.purge(2), 0)
    const left = await sql(site, 'select name from user_tokens order by id')
    assert.deepEqual(
      left.map(({ name }) => name),
      ['almost not', 'not'],
    )
  })

  test('P4 deletes tokens of a clock that was more than two minutes ahead', async (t) => {
    const site = await startSite(t)
    const { id: user } = await signUp(site)
    const now = Date.now()
    const em = site.orm.em.fork()
    for (const [name, ahead] of Object.entries({ now: 0, skewed: 120_000, ahead: 120_001 })) {
      const createdAt = new Date(now + ahead)
      em.create(UserToken, {
        name,
        value: issueToken().value,
        user,
        createdAt,
        expiresAt: new Date(now + 1e9),
      })
    }
    await em.flush()
    assert.equal(await new ExpiredTokens(site.orm, () => now).purge(), 1)
    const left = await sql(site, 'select name from user_tokens order by created_at')
    assert.deepEqual(
      left.map(({ name }) => name),
      ['now', 'skewed'],
    )
  })
})
