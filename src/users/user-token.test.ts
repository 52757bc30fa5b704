import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ForeignKeyConstraintViolationException, UniqueConstraintViolationException } from '@mikro-orm/core'
import { count, sql } from '../testing/database.ts'
import { describeTable } from '../testing/describe-table.ts'
import { signUp, takeToken } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { storedToken } from './token-value.ts'
import { User } from './user.ts'
import { issueToken, UserToken } from './user-token.ts'

const day = 24 * 60 * 60 * 1000

describe('UserToken', () => {
  test('S27 S30 S31 has the required columns id, value and user_id, a unique value and a foreign key to the user', async (t) => {
    const site = await startSite(t)
    const { required, foreignKeys } = await describeTable(site, 'user_tokens')
    for (const name of ['id', 'value', 'user_id']) assert.ok(required.includes(name), name)
    assert.deepEqual(foreignKeys, ['user_id → users (id) on delete cascade'])
    const { id } = await signUp(site)
    const insert = async (value: string, owner: string) => {
      const em = site.orm.em.fork()
      const user = em.getReference(User, owner)
      em.create(UserToken, { name: 'for a test', value, user, expiresAt: new Date() })
      await em.flush()
    }
    await insert('v'.repeat(43), id)
    await assert.rejects(insert('v'.repeat(43), id), UniqueConstraintViolationException)
    await assert.rejects(
      insert('w'.repeat(43), '00000000-0000-7000-8000-000000000000'),
      ForeignKeyConstraintViolationException,
    )
  })

  test('S31 belongs to a user, and is deleted with the user', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const token = await takeToken(site, person)
    const em = site.orm.em.fork()
    const found = await em.findOneOrFail(
      UserToken,
      { value: storedToken(token) ?? '' },
      { populate: ['user'] },
    )
    assert.equal(found.user.id, person.id)
    await sql(site, 'delete from users')
    assert.equal(await count(site, 'user_tokens'), 0)
  })

  test('S32 is valid until it expires', async (t) => {
    const site = await startSite(t)
    await takeToken(site, await signUp(site))
    const [token = assert.fail()] = await site.orm.em.fork().findAll(UserToken)
    t.mock.timers.enable({ apis: ['Date'], now: token.expiresAt.getTime() - 1 })
    assert.equal(token.isValid, true)
    t.mock.timers.tick(1)
    assert.equal(token.isValid, false)
  })

  test('omits the stored value in JSON', async (t) => {
    const site = await startSite(t)
    await takeToken(site, await signUp(site))
    const [token] = await site.orm.em.fork().findAll(UserToken)
    assert.equal(JSON.parse(JSON.stringify(token)).value, undefined)
  })
})

describe('issueToken', () => {
  test('S75 returns a token that is valid for 30 days, and its stored digest', () => {
    const now = Date.UTC(2030, 0, 1)
    const { token, value, expiresAt } = issueToken(now)
    assert.match(token, /^kauth_[\w-]{49}$/)
    assert.equal(value, storedToken(token))
    assert.equal(expiresAt.getTime(), now + 30 * day)
  })
})
