import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { Refusal } from '../refusal.ts'
import { dump, sql } from '../testing/database.ts'
import { lockDatabase } from '../testing/lock-database.ts'
import { signUp } from '../testing/people.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { startSite } from '../testing/site.ts'
import { isOnPostgres } from '../testing/test-database.ts'
import { changeCredentials } from './change-credentials.ts'
import {
  consumeOneTimeToken,
  findOneTimeToken,
  issueOneTimeToken,
  type NewOneTimeToken,
} from './one-time-tokens.ts'
import { User } from './user.ts'

const hour = 60 * 60_000

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Refusal && error.status === 410)) throw error
}

/** A site with a user, and functions that issue, find and consume tokens of this user. */
async function siteWithAda(t: TestContext) {
  const site = await startSite(t)
  const ada = await signUp(site)
  const em = () => site.orm.em.fork()
  const account = () => em().findOneOrFail(User, ada.id)
  const issue = async (more: Partial<NewOneTimeToken> = {}, now?: number) => {
    const token = { purpose: 'reset', account: more.account ?? (await account()), lifetime: hour } as const
    return (await issueOneTimeToken(em(), { ...token, ...more }, now)) ?? ''
  }
  const find = (token: string, now?: number) =>
    findOneTimeToken(em(), token, ['reset'], now).catch(unlessGone)
  const consume = (token: string, now?: number) =>
    em()
      .transactional((em) => consumeOneTimeToken(em, token, ['reset'], now))
      .catch(unlessGone)
  return { site, ada, em, account, issue, find, consume }
}

describe('one-time tokens', () => {
  test('C5 are found repeatedly and used once', async (t) => {
    const { site, ada, issue, find, consume } = await siteWithAda(t)
    const token = await issue()
    assert.match(token, /^[\w-]{43}$/)
    const before = await dump(site)
    for (let i = 0; i < 3; i += 1) assert.equal((await find(token))?.user.id, ada.id)
    assert.deepEqual(await dump(site), before)

    const grant = await consume(token)
    assert.deepEqual([grant?.user.id, grant?.email], [ada.id, ada.email])
    assert.deepEqual([await find(token), await consume(token)], [undefined, undefined])
    assert.deepEqual(await sql(site, 'select * from one_time_tokens'), [])
  })

  test('C5 are stored as a SHA-256 digest', async (t) => {
    const { site, issue } = await siteWithAda(t)
    const [one, other] = [await issue(), await issue({ purpose: 'verify' })]
    assert.notEqual(one, other)
    const rows = JSON.stringify(await sql(site, 'select * from one_time_tokens'))
    for (const token of [one, other]) {
      assert.ok(!rows.includes(token))
      assert.ok(rows.includes(hash('sha256', token, 'base64url')))
    }
  })

  test('C5 are used by only one of 20 concurrent transactions', async (t) => {
    const { issue, consume } = await siteWithAda(t)
    const token = await issue()
    const grants = await Promise.all(Array.from({ length: 20 }, () => consume(token)))
    assert.equal(grants.filter(Boolean).length, 1)
  })

  test('return the account as it is after a concurrent change', async (t) => {
    const { site, issue, consume } = await siteWithAda(t)
    const token = await issue()
    const other = await lockDatabase(t, site)
    const using = consume(token)
    // SQLite waits at the begin of the transaction.
    if (isOnPostgres) await other.waitForStatement(/ from `users` .* for update/)
    await other.release('update users set email_verified_at = ?', Date.now())
    assert.ok((await using)?.user.emailVerifiedAt)
  })

  test('stay valid if the transaction fails', async (t) => {
    const { issue, find, em } = await siteWithAda(t)
    const token = await issue()
    const work = em().transactional(async (em) => {
      assert.ok(await consumeOneTimeToken(em, token, ['reset']))
      throw new Error('The work failed.')
    })
    await assert.rejects(work, /The work failed/)
    assert.ok(await find(token))
  })

  test('C5 end at their expiry', async (t) => {
    const { issue, find, consume } = await siteWithAda(t)
    const now = Date.now()
    const token = await issue({}, now)
    assert.ok(await find(token, now + hour - 1))
    assert.deepEqual(
      [await find(token, now + hour), await consume(token, now + hour)],
      [undefined, undefined],
    )
    assert.ok(await consume(token, now + hour - 1))
  })

  test('P4 are invalid if their creation time is more than two minutes in the future', async (t) => {
    const { issue, find, consume } = await siteWithAda(t)
    const now = Date.now()
    assert.ok(await find(await issue({}, now + 120_000), now))
    const token = await issue({}, now + 120_001)
    assert.deepEqual([await find(token, now), await consume(token, now)], [undefined, undefined])
  })

  test('are valid for one purpose only', async (t) => {
    const { issue, find, consume } = await siteWithAda(t)
    for (const purpose of ['verify', 'change-email', 'invite'] as const) {
      const token = await issue({ purpose })
      assert.deepEqual([await find(token), await consume(token)], [undefined, undefined], purpose)
    }
  })

  test('C5 are replaced by a newer one of the same purpose and user', async (t) => {
    const { site, issue, find, em } = await siteWithAda(t)
    const bob = await em().findOneOrFail(User, (await signUp(site, 'Bob')).id)
    const [old, ofBob, verify] = [
      await issue(),
      await issue({ account: bob }),
      await issue({ purpose: 'verify' }),
    ]
    const newer = await issue()
    assert.equal(await find(old), undefined)
    assert.ok(await find(newer))
    assert.ok(await find(ofBob))
    assert.ok(await findOneTimeToken(em(), verify, ['verify']))
  })

  test('C5 replace each other: only one of 20 that are issued concurrently is valid', async (t) => {
    const { issue, find } = await siteWithAda(t)
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issue()))
    const grants = await Promise.all(tokens.map((token) => find(token)))
    assert.equal(grants.filter(Boolean).length, 1)
  })

  test('C5 are invalid while the account is disabled', async (t) => {
    const { site, issue, find, consume } = await siteWithAda(t)
    const token = await issue()
    await sql(site, 'update users set disabled_at = 1')
    assert.deepEqual([await find(token), await consume(token)], [undefined, undefined])
    await sql(site, 'update users set disabled_at = null')
    assert.ok(await consume(token))
  })

  test('are deleted with the account', async (t) => {
    const { site, issue, find } = await siteWithAda(t)
    const token = await issue()
    await sql(site, 'delete from users')
    assert.equal(await find(token), undefined)
    assert.deepEqual(await sql(site, 'select * from one_time_tokens'), [])
  })

  test('store the account and the recipient of the mail', async (t) => {
    const { ada, issue, em } = await siteWithAda(t)
    const token = await issue({ purpose: 'change-email', email: 'ada@example.org' })
    const grant = await findOneTimeToken(em(), token, ['change-email'])
    assert.deepEqual([grant?.user.email, grant?.email], [ada.email, 'ada@example.org'])
  })

  test('are not issued if the account was disabled or its credentials changed after the account was loaded', async (t) => {
    const { site, ada, issue, account, em } = await siteWithAda(t)
    const before = await account()
    await changeCredentials(em(), ada.id, { email: 'ada@example.org' })
    assert.equal(await issue({ account: before }), '')
    const changed = await account()
    await sql(site, 'update users set disabled_at = 1')
    assert.equal(await issue({ account: changed }), '')
    assert.deepEqual(await sql(site, 'select * from one_time_tokens'), [])
  })

  test('are looked up only if they have the right length and characters', async (t) => {
    const { site, find } = await siteWithAda(t)
    const statements = await recordSiteStatements(t, site)
    for (const token of [
      '',
      'x',
      'x'.repeat(42),
      'x'.repeat(44),
      `${'x'.repeat(42)}=`,
      `${'x'.repeat(42)}\0`,
    ])
      assert.equal(await find(token), undefined)
    assert.deepEqual(statements(), [])
    assert.equal(await find('x'.repeat(43)), undefined)
    assert.equal(statements().length, 1)
  })
})
