import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { SecretBox, UnreadableSecret } from './secret-box.ts'

const first = { id: 'first', bytes: randomBytes(32) }
const second = { id: 'second', bytes: randomBytes(32) }
const secret = randomBytes(20)

describe('SecretBox', () => {
  test('decrypts an encrypted secret, and encrypts it differently each time', () => {
    const box = new SecretBox([first])
    const texts = [box.encrypt(secret, 'ada'), box.encrypt(secret, 'ada')]
    assert.notEqual(texts[0], texts[1])
    for (const text of texts) {
      assert.match(text, /^first\.[\w-]{64}$/)
      assert.deepEqual(box.decrypt(text, 'ada'), secret)
    }
  })

  test('rejects a secret of another owner, a changed text, and a text of an unknown key', () => {
    const box = new SecretBox([first])
    const text = box.encrypt(secret, 'ada')
    const flipped = Buffer.from(text.slice(6), 'base64url')
    flipped[20] = (flipped[20] ?? 0) ^ 1
    const sameName = new SecretBox([{ ...second, id: 'first' }])
    assert.throws(() => box.decrypt(text, 'bob'), UnreadableSecret)
    assert.throws(() => box.decrypt(`first.${flipped.toString('base64url')}`, 'ada'), UnreadableSecret)
    for (const bad of ['first.', 'first', '', text.slice(0, 20), text.slice(0, -8)])
      assert.throws(() => box.decrypt(bad, 'ada'), UnreadableSecret)
    assert.throws(() => new SecretBox([second]).decrypt(text, 'ada'), /no key "first"/)
    assert.throws(() => sameName.decrypt(text, 'ada'), UnreadableSecret)
  })

  test('decrypts with older keys, and encrypts with the newest key', () => {
    const text = new SecretBox([first]).encrypt(secret, 'ada')
    const rotated = new SecretBox([second, first])
    assert.deepEqual(rotated.decrypt(text, 'ada'), secret)
    assert.ok(rotated.encrypt(secret, 'ada').startsWith(rotated.prefix))
    assert.ok(!text.startsWith(rotated.prefix))
  })

  test('derives a different key for each purpose', () => {
    const box = new SecretBox([first])
    assert.equal(box.deriveKey('one').length, 32)
    assert.deepEqual(box.deriveKey('one'), new SecretBox([first, second]).deriveKey('one'))
    assert.notDeepEqual(box.deriveKey('one'), box.deriveKey('other'))
  })
})
