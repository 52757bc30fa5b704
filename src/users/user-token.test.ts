import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import {
  ForeignKeyConstraintViolationException,
  UniqueConstraintViolationException,
  wrap,
} from '@mikro-orm/core'
import fc from 'fast-check'
import { count, sql } from '../testing/database.ts'
import { describeTable } from '../testing/describe-table.ts'
import { signUp, takeToken } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { User } from './user.ts'
import { issueToken, newTokenValue, UserToken } from './user-token.ts'

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
      { value: UserToken.stored(token) ?? '' },
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

  test('P4 is invalid if it was created more than two minutes in the future', async (t) => {
    const site = await startSite(t)
    await takeToken(site, await signUp(site))
    const [token = assert.fail()] = await site.orm.em.fork().findAll(UserToken)
    t.mock.timers.enable({ apis: ['Date'], now: token.createdAt.getTime() - 2 * 60_000 })
    assert.equal(token.isValid, true)
    t.mock.timers.setTime(token.createdAt.getTime() - 2 * 60_000 - 1)
    assert.equal(token.isValid, false)
  })

  test('omits the stored value and its last characters, also from the objects of MikroORM', async (t) => {
    const site = await startSite(t)
    await takeToken(site, await signUp(site))
    const [token = assert.fail()] = await site.orm.em.fork().findAll(UserToken)
    for (const copy of [JSON.parse(JSON.stringify(token)), wrap(token).toObject()])
      assert.deepEqual(Object.keys(copy).sort(), ['expiresAt', 'id', 'name', 'user'])
  })
})

describe('issueToken', () => {
  test('M4 S75 returns a token that is valid for 30 days, and its stored digest', () => {
    const now = Date.UTC(2030, 0, 1)
    const { token, value, expiresAt } = issueToken(now)
    assert.match(token, /^kauth_[\w-]{49}$/)
    assert.equal(value, UserToken.stored(token))
    assert.equal(expiresAt.getTime(), now + 30 * day)
  })
})

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
// Any UTF-16 code unit.
const anyUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))

describe('newTokenValue', () => {
  test('M1 is kauth_, 43 base64url characters of 32 random bytes, and 6 of their CRC-32', () => {
    const value = newTokenValue()
    const [, random = '', sum = ''] = /^kauth_([\w-]{43})([\w-]{6})$/.exec(value) ?? []
    const bytes = Buffer.from(random, 'base64url')
    assert.equal(bytes.length, 32)
    assert.equal(bytes.toString('base64url'), random)
    assert.equal(Buffer.from(sum, 'base64url').readUInt32BE(), crc32(bytes))
  })

  test('is unique', () => {
    assert.equal(new Set(Array.from({ length: 1000 }, newTokenValue)).size, 1000)
  })
})

describe('UserToken.stored', () => {
  test('is the SHA-256 of a token', () => {
    const value = newTokenValue()
    assert.equal(UserToken.stored(value), hash('sha256', value, 'base64url'))
  })

  test('differs if any character differs, and is undefined for another length or prefix', () => {
    const value = newTokenValue()
    const stored = UserToken.stored(value)
    for (let at = 0; at < value.length; at += 1) {
      for (const other of alphabet) {
        if (other === value[at]) continue
        const wrong = value.slice(0, at) + other + value.slice(at + 1)
        assert.notEqual(UserToken.stored(wrong), stored, `${other} at ${at}`)
      }
      assert.equal(UserToken.stored(value.slice(0, at) + value.slice(at + 1)), undefined)
    }
    for (const wrong of [`${value}A`, ` ${value}`, `${value}\n`, value.toUpperCase(), ''])
      assert.equal(UserToken.stored(wrong), undefined, JSON.stringify(wrong))
  })

  test('is undefined for random strings, and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: anyUnit }), (text) => UserToken.stored(text) === undefined))
    const long = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 55, maxLength: 55 })
    fc.assert(fc.property(long, (text) => UserToken.stored(text) === undefined))
  })
})
