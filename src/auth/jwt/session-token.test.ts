import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SessionToken } from './session-token.ts'

const id = '0190163d-8694-739b-aea5-966c26f8ad91'
const expiration = new Date(1_800_000_000_000)

describe('SessionToken', () => {
  test('expires 900 seconds after it was made', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_123 })
    assert.equal(new SessionToken(id).expiration.getTime(), 1_700_000_900_123)
  })

  test('takes any UUID as its user, in lower case', () => {
    for (const userId of [id, id.toUpperCase(), '00000000-0000-0000-0000-000000000000']) {
      const token = SessionToken.parse({ userId, exp: 1, extra: true }, expiration)
      assert.deepEqual(token, new SessionToken(userId.toLowerCase(), expiration))
    }
  })

  test('takes nothing else, before anybody could ask a database for it', () => {
    const wrong: unknown[] = [
      ...[
        undefined,
        null,
        true,
        0,
        1,
        -1,
        1.5,
        '',
        ' ',
        'null',
        '1',
        '*',
        '%',
        "' or 1=1 --",
        '../../etc/passwd',
      ],
      ...[
        [],
        [id],
        [[id]],
        {},
        { $ne: null },
        { $ne: '' },
        { $gt: '' },
        { $in: [id] },
        { $like: '%' },
        { $not: {} },
      ],
      ...[{ id }, { toString: id }, { length: 36 }, { 0: id }, { valueOf: 1 }],
      ...[
        ` ${id}`,
        `${id} `,
        `${id}\n`,
        `${id}\0`,
        `\n${id}`,
        `{${id}}`,
        `urn:uuid:${id}`,
        id.replaceAll('-', ''),
        id.slice(1),
      ],
      ...[
        `${id}0`,
        id.replace('0', 'g'),
        id.replace('-', '_'),
        id.replaceAll('0', '０'),
        id.replace('1', 'İ'),
        `${id},${id}`,
      ],
    ]
    for (const userId of wrong)
      assert.equal(SessionToken.parse({ userId }, expiration), undefined, JSON.stringify(userId))
    assert.equal(SessionToken.parse({ userid: id, sub: id }, expiration), undefined)
  })
})
