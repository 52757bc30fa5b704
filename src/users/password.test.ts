import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import bcrypt from 'bcrypt'
import { countHashes } from '../testing/count-hashes.ts'
import { hashPassword, isUsableHash, setBcryptCost, verifyPassword } from './password.ts'

beforeEach(() => setBcryptCost(4))

describe('hashPassword', () => {
  test('B1 returns a bcrypt hash of the configured cost, with a new salt', async () => {
    setBcryptCost(5)
    const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])

    assert.match(one, /^\$2b\$05\$[./A-Za-z0-9]{53}$/)
    assert.notEqual(one, other)
  })

  test('passes passwords of up to 72 bytes without NUL to bcrypt unchanged', async () => {
    for (const password of ['correct horse', 'a'.repeat(72), 'é'.repeat(36)]) {
      assert.ok(await bcrypt.compare(password, await hashPassword(password)))
    }
  })

  test('passes longer passwords to bcrypt as the base64 of their HMAC-SHA-384', async () => {
    const long = 'a'.repeat(73)
    const digest = createHmac('sha384', 'koa-authenticators/bcrypt/v1').update(long).digest('base64')

    assert.ok(await bcrypt.compare(digest, await hashPassword(long)))
  })

  test('rejects a password that it cannot hash completely', async () => {
    for (const password of ['a'.repeat(1025), '\ud800 lone surrogate']) {
      await assert.rejects(hashPassword(password), RangeError)
    }
  })
})

describe('verifyPassword', () => {
  const accepts = async (right: string, typed: string) => verifyPassword(typed, await hashPassword(right))

  test('S72 accepts the password and no other', async () => {
    assert.equal(await accepts('correct horse', 'correct horse'), true)
    for (const wrong of ['', 'correct hors', 'Correct horse', 'correct horse ', 'correct  horse']) {
      assert.equal(await accepts('correct horse', wrong), false, wrong)
    }
  })

  test('B2 distinguishes passwords by their last byte, up to byte 1,024', async () => {
    for (const length of [71, 72, 73, 100, 1000, 1023]) {
      const start = 'x'.repeat(length)
      assert.equal(await accepts(`${start}a`, `${start}a`), true)
      assert.equal(await accepts(`${start}a`, `${start}b`), false, `byte ${length + 1}`)
      assert.equal(await accepts(`${start}a`, start), false, `byte ${length + 1} missing`)
    }
    const emoji = '🙂'.repeat(63)
    assert.equal(await accepts(`${emoji}🙂`, `${emoji}🙂`), true)
    assert.equal(await accepts(`${emoji}🙂`, `${emoji}🙃`), false)
  })

  test('B3 distinguishes passwords with NUL, which bcrypt does not', async () => {
    const alike = [
      'abc',
      'abc\0',
      'abc\0abc',
      'abc\0x123',
      'abc\0y123',
      '\0abc',
      `${'a'.repeat(71)}\0`,
      'a'.repeat(71),
    ]
    for (const right of alike) {
      for (const typed of alike) {
        assert.equal(await accepts(right, typed), right === typed, JSON.stringify({ right, typed }))
      }
    }
    assert.ok(
      await bcrypt.compare('abc\0abc', await bcrypt.hash('abc', 4)),
      'bcrypt no longer confuses these',
    )
  })

  test('B4 accepts the composed and the decomposed form', async () => {
    assert.equal(await accepts('crème brûlée'.normalize('NFC'), 'crème brûlée'.normalize('NFD')), true)
    assert.equal(
      await accepts('한국어 암호'.repeat(60).normalize('NFC'), '한국어 암호'.repeat(60).normalize('NFD')),
      true,
    )
    assert.equal(await accepts('ﬁnal answer', 'final answer'), false)
  })

  test('rejects too long and ill-formed passwords without computing a hash', async (t) => {
    const hash = await hashPassword('correct horse')
    const hashes = countHashes(t)
    for (const password of ['x'.repeat(1025), 'x'.repeat(1_000_000), 'é'.repeat(513), '\udfff'.repeat(10)]) {
      assert.equal(await verifyPassword(password, hash), false)
    }
    assert.equal(hashes().evaluations, 0)
  })

  test('B8 matches no damaged or expensive hash', async () => {
    const hash = await hashPassword('correct horse')
    const salt = hash.slice(7)
    const unusable = [
      '',
      'correct horse',
      hash.slice(0, -1),
      `${hash}x`,
      `${hash}\n`,
      `$2b$31$${salt}`,
      `$2b$16$${salt}`,
      `$2b$03$${salt}`,
      `$2y$04$${salt}`,
      `$1$04$${salt}`,
      `$2b$04$${salt.replace(/^./, '~')}`,
      `$2b$-4$${salt}`,
    ]
    for (const each of unusable) {
      assert.equal(isUsableHash(each), false, each)
      assert.equal(await verifyPassword('correct horse', each), false, each)
    }
    assert.equal(isUsableHash(hash), true)
  })
})
