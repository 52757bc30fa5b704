import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Signed } from './signed.ts'

const signature = Buffer.alloc(64, 1)

/** What is asked, and how often a signature had to be verified for it. */
function asked(signed = new Signed()) {
  let verified = 0
  const ask = (input: string, bytes: Uint8Array = signature, isRight = true) =>
    signed.includes(input, bytes, () => {
      verified += 1
      return isRight
    })
  return { ask, verified: () => verified }
}

describe('Signed', () => {
  test('verifies once what is rightly signed, and every time what is not', () => {
    const { ask, verified } = asked()
    assert.deepEqual([ask('a.b'), ask('a.b'), ask('a.b')], [true, true, true])
    assert.equal(verified(), 1)
    assert.deepEqual([ask('a.c', signature, false), ask('a.c', signature, false)], [false, false])
    assert.equal(verified(), 3)
  })

  test('takes another signature, input or border between the two for another', () => {
    const { ask, verified } = asked()
    ask('a.b')
    const others: [string, Uint8Array][] = [
      ['a.b', Buffer.alloc(64, 2)],
      ['a.b', signature.subarray(0, 63)],
      ['a.b', Buffer.concat([signature, Buffer.from('a')])],
      [`${signature.subarray(60).toString('latin1')}a.b`, signature.subarray(0, 60)],
      ['', Buffer.concat([signature, Buffer.from('a.b')])],
    ]
    for (const [input, bytes] of others) assert.equal(ask(input, bytes, false), false)
    assert.equal(verified(), 1 + others.length)
  })

  test('holds so many and forgets what was not asked about for longest', () => {
    const { ask, verified } = asked(new Signed(10))
    for (let i = 0; i < 1000; i += 1) {
      ask(`a.${i}`)
      ask('kept')
    }
    assert.equal(verified(), 1001)
    ask('a.999')
    assert.equal(verified(), 1001)
    ask('a.0')
    assert.equal(verified(), 1002)
  })
})
