import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { newTokenValue, randomPart, storedToken, withChecksum } from './token-value.ts'

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

describe('randomPart', () => {
  test('returns 43 characters, from which `withChecksum` restores the token', () => {
    const value = newTokenValue()
    assert.match(randomPart(value), /^[\w-]{43}$/)
    assert.equal(withChecksum(randomPart(value)), value)
  })
})

describe('storedToken', () => {
  test('is the SHA-256 of a token', () => {
    const value = newTokenValue()
    assert.equal(storedToken(value), hash('sha256', value, 'base64url'))
  })

  test('differs if any character differs, and is undefined for another length or prefix', () => {
    const value = newTokenValue()
    const stored = storedToken(value)
    for (let at = 0; at < value.length; at += 1) {
      for (const other of alphabet) {
        if (other === value[at]) continue
        const wrong = value.slice(0, at) + other + value.slice(at + 1)
        assert.notEqual(storedToken(wrong), stored, `${other} at ${at}`)
      }
      assert.equal(storedToken(value.slice(0, at) + value.slice(at + 1)), undefined)
    }
    for (const wrong of [`${value}A`, ` ${value}`, `${value}\n`, value.toUpperCase(), ''])
      assert.equal(storedToken(wrong), undefined, JSON.stringify(wrong))
  })

  test('is undefined for random strings, and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: anyUnit }), (text) => storedToken(text) === undefined))
    const long = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 55, maxLength: 55 })
    fc.assert(fc.property(long, (text) => storedToken(text) === undefined))
  })
})
