import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { auth } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import { type AuthContext, type AuthMiddleware, guard } from '../index.ts'
import { serve } from '../testing/serve.ts'
import { type Claims, JWTKeys, JWTPayload, SessionToken } from './index.ts'

const id = '0190163d-8694-739b-aea5-966c26f8ad91'
const names = { issuer: 'https://site', audience: 'https://site' }
const secret = 's'.repeat(32)
const newKeys = () => new JWTKeys({ secrets: [secret], ...names })

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

class Robot {
  readonly name = 'robot'
}

class RobotAuthenticator extends BearerAuthenticator<Robot> {
  readonly user = Robot

  override authenticate({ token }: BearerAuthorization, ctx: AuthContext): void {
    if (token === 'opaque') ctx.auth.login(new Robot())
  }
}

/** A site whose page shows the user id of a session token and the name of a robot. */
async function start(t: TestContext, keys: JWTKeys, ...more: AuthMiddleware[]) {
  const app = new Koa()
  app.use(auth())
  app.use(SessionToken.authenticator(keys))
  app.use(new RobotAuthenticator().middleware())
  for (const each of more) app.use(each)
  app.use((ctx) => {
    ctx.body = { userId: ctx.auth.get(SessionToken)?.userId, robot: ctx.auth.get(Robot)?.name }
  })
  const { url } = await serve(t, app)
  return (authorization?: string) => fetch(url, { headers: authorization ? { authorization } : {} })
}

describe('JWTPayload', () => {
  test('S14 can be subclassed', async () => {
    const keys = newKeys()
    Invitation.authenticator(keys)
    const invitation = await keys.verify(await keys.sign(new Invitation('ada@example.com')), Invitation)
    assert.ok(invitation instanceof Invitation)
    assert.equal(invitation.email, 'ada@example.com')
    assert.ok(invitation.expiration.getTime() > Date.now() + 6 * 86_400_000)
  })

  test('does not compile without `lifetime` or `parse`, and accepts no token in JavaScript', async () => {
    class NoLifetime extends JWTPayload {
      static override readonly typ = 'one'
      static parse = (_: Claims, expiration: Date) => new NoLifetime(expiration)
    }
    class NoParse extends JWTPayload {
      static override readonly typ = 'other'
      static readonly lifetime = 60
    }
    const keys = newKeys()
    // @ts-expect-error Property 'lifetime' is missing.
    NoLifetime.authenticator(keys)
    // @ts-expect-error Property 'parse' is missing.
    NoParse.authenticator(keys)
    for (const Class of [NoLifetime, NoParse]) await assert.rejects(keys.sign(new Class(new Date())))
  })

  test('J7 rejects a second class with the same keys and `typ`, and a token of another class', async () => {
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
    assert.equal(await keys.verify(await keys.sign(new Invitation('a')), SessionToken), undefined)
    assert.equal(await keys.verify(await keys.sign(new SessionToken(id)), Invitation), undefined)
  })
})

describe('SessionToken', () => {
  test('needs keys that verify', () => {
    for (const keys of [undefined, {}])
      assert.throws(() => SessionToken.authenticator(keys as never), {
        name: 'Misuse',
        message: /Pass the keys/,
      })
  })

  const expiration = new Date(1_800_000_000_000)

  test('S38 expires 900 seconds after it was created', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_123 })
    assert.equal(new SessionToken(id).expiration.getTime(), 1_700_000_900_123)
  })

  test('S39 accepts any UUID as its user id, and stores it in lower case', () => {
    for (const userId of [id, id.toUpperCase(), '00000000-0000-0000-0000-000000000000']) {
      const token = SessionToken.parse({ userId, exp: 1, extra: true }, expiration)
      assert.deepEqual(token, new SessionToken(userId.toLowerCase(), expiration))
    }
  })

  test('J8 S39 rejects a user id that is not a UUID', () => {
    const values = [
      undefined,
      null,
      true,
      0,
      1.5,
      '',
      ' ',
      '*',
      '%',
      "' or 1=1 --",
      '../../etc/passwd',
      [],
      [id],
      {},
    ]
    const objects: unknown[] = [
      { $ne: null },
      { $in: [id] },
      { $like: '%' },
      { id },
      { toString: id },
      { length: 36 },
    ]
    const edges = [
      ` ${id}`,
      `${id} `,
      `${id}\n`,
      `${id}\0`,
      `{${id}}`,
      `urn:uuid:${id}`,
      `${id}0`,
      `${id},${id}`,
    ]
    const digits = [id.replaceAll('-', ''), id.slice(1), id.replace('0', 'g'), id.replaceAll('0', '０')]
    const wrong: unknown[] = [...values, ...objects, ...edges, ...digits]
    for (const userId of wrong)
      assert.equal(SessionToken.parse({ userId }, expiration), undefined, JSON.stringify(userId))
    assert.equal(SessionToken.parse({ userid: id, sub: id }, expiration), undefined)
  })
})

describe('SessionToken.authenticator', () => {
  test('S93 logs in the payload of a valid token', async (t) => {
    const keys = new JWTKeys({ secrets: [secret], ...names })
    const get = await start(t, keys)
    const token = await keys.sign(new SessionToken(id))
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      assert.deepEqual(await (await get(`${scheme} ${token}`)).json(), { userId: id })
    }
  })

  test('S93 requires a token if a guard follows', async (t) => {
    const keys = new JWTKeys({ secrets: [secret], ...names })
    const get = await start(t, keys, guard(SessionToken))
    assert.equal((await get(`Bearer ${await keys.sign(new SessionToken(id))}`)).status, 200)
    const missing = await get()
    assert.equal(missing.status, 401)
    assert.equal(missing.headers.get('www-authenticate'), 'Bearer realm="restricted"')
    const bad = await get('Bearer a.b.c')
    assert.equal(bad.status, 401)
    assert.equal(bad.headers.get('www-authenticate'), 'Bearer realm="restricted", error="invalid_token"')
    assert.equal((await get('Bearer opaque')).status, 401)
  })
})
