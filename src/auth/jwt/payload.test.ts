import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Claims, JWTPayload, SessionToken } from './index.ts'
import { JWTKeys } from './keys.ts'

const names = { issuer: 'site', audience: 'site' }
const newKeys = () => new JWTKeys({ secrets: ['0123456789abcdef0123456789abcdef'], ...names })

class Invitation extends JWTPayload {
  static readonly lifetime = 7 * 86_400
  static override readonly typ = 'invitation+jwt'
  readonly email: string

  constructor(email: string, expiration = new Date(Date.now() + Invitation.lifetime * 1000)) {
    super(expiration)
    this.email = email
  }

  static parse({ email }: Claims, expiration: Date): Invitation | undefined {
    return typeof email === 'string' ? new Invitation(email, expiration) : undefined
  }
}

describe('JWTPayload', () => {
  test('is subclassed in a handful of lines', () => {
    const keys = newKeys()
    Invitation.authenticator(keys)
    const invitation = keys.verify(keys.sign(new Invitation('ada@example.com')), Invitation)
    assert.ok(invitation instanceof Invitation)
    assert.equal(invitation.email, 'ada@example.com')
    assert.ok(invitation.expiration.getTime() > Date.now() + 6 * 86_400_000)
  })

  test('does not compile, and does not start, without a lifetime or a way to prove its claims', () => {
    class NoLifetime extends JWTPayload {
      static parse = (_: Claims, expiration: Date) => new NoLifetime(expiration)
    }
    class NoParse extends JWTPayload {
      static readonly lifetime = 60
    }
    const expiration = new Date()
    // @ts-expect-error Property 'lifetime' is missing.
    assert.throws(() => NoLifetime.authenticator(newKeys()), {
      code: 'ERR_AUTH_MISUSE',
      message: /NoLifetime lacks `static lifetime`/,
    })
    // @ts-expect-error Property 'parse' is missing.
    assert.throws(() => NoParse.authenticator(newKeys()), {
      code: 'ERR_AUTH_MISUSE',
      message: /NoParse lacks `static parse`/,
    })
    assert.throws(() => newKeys().sign(new NoLifetime(expiration)), /NoLifetime lacks/)
    assert.throws(() => newKeys().sign(new NoParse(expiration)), /NoParse lacks/)
    for (const lifetime of [0, -1, Number.NaN, Infinity, null]) {
      const Timeless = class extends SessionToken {}
      Object.defineProperty(Timeless, 'lifetime', { value: lifetime })
      assert.throws(() => Timeless.authenticator(newKeys()), /lacks `static lifetime`/)
    }
  })

  test('is never taken for another class with the same keys', () => {
    class Lookalike extends SessionToken {}
    class Typed extends SessionToken {
      static override readonly typ = 'jwt'
    }
    const keys = newKeys()
    SessionToken.authenticator(keys)
    SessionToken.authenticator(keys)
    Invitation.authenticator(keys)
    for (const Other of [Lookalike, Typed]) {
      assert.throws(() => Other.authenticator(keys), {
        code: 'ERR_AUTH_MISUSE',
        message: /SessionToken share keys and `typ`/,
      })
    }
    assert.equal(keys.verify(keys.sign(new Invitation('a')), SessionToken), undefined)
    assert.equal(
      keys.verify(keys.sign(new SessionToken('0190163d-8694-739b-aea5-966c26f8ad91')), Invitation),
      undefined,
    )
  })
})
