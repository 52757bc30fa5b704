import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { emailProblem } from './email.ts'
import { emailKey } from './user.ts'

const longest = `${'n'.repeat(64)}@${`${'d'.repeat(61)}.`.repeat(3)}com`

describe('emailProblem', () => {
  test('accepts common addresses', () => {
    const good = [
      'a@b.co',
      'ada.lovelace@example.com',
      'ada+site@example.co.uk',
      "o'brien@example.ie",
      'ADA@EXAMPLE.COM',
      '0@1.de',
      'under_score-dash@sub.sub.example',
      'someone@xn--bcher-kva.example',
      longest,
    ]
    for (const email of good) assert.equal(emailProblem(email), undefined, email)
  })

  test('K6 K7 S34 rejects invalid addresses, and several addresses in one text', () => {
    const bad = [
      ...[
        'ada',
        'ada@',
        '@example.com',
        '@',
        'ada@localhost',
        'ada@example.',
        'ada@.com',
        'ada@example..com',
      ],
      ...['.ada@example.com', 'ada.@example.com', 'a..b@example.com', 'ada@-example.com', 'ada@example-.com'],
      ...[
        'ada@b@example.com',
        'ada@example.com,eve@example.com',
        'ada@example.com eve@example.com',
        '"ada"@example.com',
      ],
      ...[
        ' ada@example.com',
        'ada@example.com ',
        'ada@exa mple.com',
        'ada@example.com\n',
        'ada@example.com\r\nBcc: x',
      ],
      ...[
        'ada\0@example.com',
        'ada@example.com\0',
        'ada＠example.com',
        'ada﹫example.com',
        'ада@example.com',
        'ada@exämple.com',
      ],
      ...[
        'ada@127.0.0.1',
        'ada@[127.0.0.1]',
        'ada@example.com:25',
        'ada@exa_mple.com',
        '<ada@example.com>',
        'mailto:ada@b.co',
      ],
      ...[
        'ada(comment)@example.com',
        'ada;eve@example.com',
        'ada\\@example.com',
        `${'n'.repeat(65)}@example.com`,
      ],
      ...[`ada@${'d'.repeat(64)}.com`, 'ada@\u212Aelvin.com', 'ada@example.com\u200B'],
    ]
    for (const email of bad)
      assert.match(emailProblem(email) ?? 'accepted', /like name@example\.com/, JSON.stringify(email))
  })

  test('has a message for a missing and a message for a too long address', () => {
    assert.equal(emailProblem(''), 'Enter an e-mail address.')
    assert.equal(longest.length, 254)
    assert.match(emailProblem(`n${longest}`) ?? '', /254 characters or fewer/)
  })

  test('K7 accepts only texts with exactly one @, without spaces, double quotes, commas and brackets', () => {
    const almost = fc.string({
      unit: fc.constantFrom(...'aZ9.-_+@ ,;:"<>()[]\\\0\n\u00e9\uff20'),
      maxLength: 24,
    })
    const email = fc.tuple(almost, almost).map(([one, other]) => `${one}@${other}.com`)
    fc.assert(
      fc.property(email, (text) => {
        if (emailProblem(text) === undefined) assert.match(text, /^[^@\s,;:"<>()[\]\\]+@[a-z\d.-]+$/i)
      }),
      { numRuns: 10_000 },
    )
  })

  test('K7 rejects huge texts, for which more than linear time would take hours', () => {
    for (const text of ['a'.repeat(2e6), 'a.'.repeat(1e6), '@'.repeat(2e6), `a@${'b.'.repeat(1e6)}`])
      assert.notEqual(emailProblem(text), undefined)
  })
})

describe('emailKey', () => {
  test('is the same for addresses that differ in case only', () => {
    assert.equal(emailKey('Ada@Example.COM'), emailKey('ada@example.com'))
    assert.notEqual(emailKey('ada@example.com'), emailKey('ada1@example.com'))
  })
})
