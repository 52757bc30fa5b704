import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ClaimRules, claimRules, validUntil } from './claims.ts'

const made = 1_800_000_000
const good = { iat: made, exp: made + 900, iss: 'https://site', aud: 'https://api' }

function rulesAt(time: number, leeway = 0): ClaimRules {
  return claimRules({ issuer: 'https://site', audience: 'https://api', leeway, now: () => time * 1000 })
}

/** Whether claims are valid this many seconds after they were issued. */
function isGood(claims: Record<string, unknown>, seconds = 0, leeway = 0): boolean {
  return validUntil({ ...good, ...claims }, rulesAt(made + seconds, leeway), 900) !== undefined
}

describe('claimRules', () => {
  test('J6 J7 requires an issuer, an audience and a leeway of at most 60 seconds', () => {
    const names = { issuer: 'https://site', audience: 'https://api' }
    for (const wrong of [{ issuer: '' }, { audience: '' }])
      assert.throws(() => claimRules({ ...names, ...wrong }), { message: /`issuer` and an `audience`/ })
    for (const leeway of [-1, 61, Number.NaN, Infinity, '30' as never])
      assert.throws(() => claimRules({ ...names, leeway }), {
        code: 'ERR_AUTH_MISUSE',
        message: /0 to 60 seconds/,
      })
    assert.equal(claimRules(names).leeway, 0)
  })

  test('uses the clock of the moment, not the clock of the start', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 0 })
    const { now } = claimRules({ issuer: 'https://site', audience: 'https://api' })
    assert.equal(now(), 0)
    t.mock.timers.reset()
    assert.ok(now() > 1_700_000_000_000)
  })
})

describe('validUntil', () => {
  test('returns the expiry of the token', () => {
    assert.equal(validUntil(good, rulesAt(made), 900), made + 900)
  })

  test('J6 accepts a token from `iat` until just before `exp`', () => {
    for (const seconds of [0, 0.001, 1, 899, 899.999])
      assert.equal(isGood({}, seconds), true, String(seconds))
    for (const seconds of [-1, -0.001, 900, 900.001, 901, 1e9])
      assert.equal(isGood({}, seconds), false, String(seconds))
  })

  test('tolerates a clock difference up to the leeway', () => {
    for (const seconds of [-60, 959]) assert.equal(isGood({}, seconds, 60), true, String(seconds))
    for (const seconds of [-61, 960]) assert.equal(isGood({}, seconds, 60), false, String(seconds))
    assert.equal(isGood({ nbf: made + 60 }, 0, 60), true)
    assert.equal(isGood({ nbf: made + 61 }, 0, 60), false)
    assert.equal(isGood({ exp: made + 901 }, 0, 60), false, 'the lifetime has no leeway')
  })

  test('J6 requires `exp` and `iat`, and accepts only finite numbers as dates', () => {
    const wrong = [
      undefined,
      null,
      String(made),
      '',
      true,
      [made],
      [],
      {},
      Number.NaN,
      Infinity,
      -Infinity,
      1e300,
      -1e300,
    ]
    for (const value of wrong) {
      assert.equal(isGood({ exp: value }), false, `exp ${value}`)
      assert.equal(isGood({ iat: value }), false, `iat ${value}`)
      if (value !== undefined && value !== -1e300) assert.equal(isGood({ nbf: value }), false, `nbf ${value}`)
    }
    assert.equal(isGood({ exp: 1e300, iat: 1e300 }), false)
    assert.equal(isGood({ exp: made + 0.5, iat: made - 0.5 }), true, 'a fraction is a date (RFC 7519 §2)')
    assert.equal(isGood({ exp: made + 0.5 }, 0.5), false)
  })

  test('J6 rejects a longer lifetime than the payload class allows, and a future `iat`', () => {
    assert.equal(isGood({ exp: made + 901 }), false)
    assert.equal(isGood({ iat: made - 1 }), false)
    assert.equal(isGood({ iat: made + 1 }), false)
    assert.equal(isGood({ iat: made + 1, exp: made + 901 }), false)
    assert.equal(isGood({ iat: made - 1, exp: made + 899 }), true)
  })

  test('J6 checks `nbf` if it is present', () => {
    for (const nbf of [made, made - 1, 0, -1, -1e300]) assert.equal(isGood({ nbf }), true, String(nbf))
    for (const nbf of [made + 1, made + 0.5]) assert.equal(isGood({ nbf }), false, String(nbf))
    assert.equal(isGood({ nbf: made + 10 }, 10), true)
  })

  test('J7 requires the configured issuer', () => {
    const wrong = [
      undefined,
      null,
      '',
      'https://site/',
      'HTTPS://SITE',
      ['https://site'],
      { 0: 'https://site' },
      0,
    ]
    for (const iss of wrong) assert.equal(isGood({ iss }), false, JSON.stringify(iss))
  })

  test('J7 requires the configured audience, alone or in a list', () => {
    for (const aud of ['https://api', ['https://api'], ['a', 'https://api', 'b']])
      assert.equal(isGood({ aud }), true)
    const wrong = [
      undefined,
      null,
      '',
      'https://api/',
      'https://ap',
      [],
      ['a'],
      [['https://api']],
      ['https://api', 1],
      [null],
      {},
      0,
    ]
    for (const aud of wrong) assert.equal(isGood({ aud }), false, JSON.stringify(aud))
  })

  test('N11 rejects every token while the clock returns NaN', () => {
    assert.equal(validUntil(good, rulesAt(Number.NaN), 900), undefined)
  })
})
