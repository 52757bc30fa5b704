import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import { auth } from '../auth.ts'
import type { BearerAuthorization } from '../authorization.ts'
import { BearerAuthenticator } from '../bearer.ts'
import { type AuthContext, type AuthMiddleware, guard } from '../index.ts'
import { JWTAuthenticator, JWTKeys, SessionToken } from './index.ts'

const id = '0190163d-8694-739b-aea5-966c26f8ad91'
const names = { issuer: 'https://site', audience: 'https://site' }
const secret = 's'.repeat(32)

class Robot {
  readonly name = 'robot'
}

class RobotAuthenticator extends BearerAuthenticator<Robot> {
  readonly user = Robot

  override authenticate({ token }: BearerAuthorization, ctx: AuthContext): void {
    if (token === 'opaque') ctx.auth.login(new Robot())
  }
}

/** A site whose only page tells who one is: a session token, a robot or nobody. */
async function start(t: TestContext, keys: JWTKeys, ...more: AuthMiddleware[]) {
  const app = new Koa()
  app.silent = true
  app.use(auth())
  app.use(SessionToken.authenticator(keys))
  app.use(new RobotAuthenticator().middleware())
  for (const each of more) app.use(each)
  app.use((ctx) => {
    ctx.body = { userId: ctx.auth.get(SessionToken)?.userId, robot: ctx.auth.get(Robot)?.name }
  })
  const server = app.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return (authorization?: string) =>
    fetch(`http://127.0.0.1:${port}`, { headers: authorization ? { authorization } : {} })
}

describe('SessionToken.authenticator', () => {
  test('logs in the payload of a good token', async (t) => {
    const keys = new JWTKeys({ secrets: [secret], ...names })
    const get = await start(t, keys)
    const token = keys.sign(new SessionToken(id))
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      assert.deepEqual(await (await get(`${scheme} ${token}`)).json(), { userId: id })
    }
  })

  test('takes anything else for no match, and lets the next authenticator have its turn', async (t) => {
    let now = Date.now()
    const keys = new JWTKeys({ secrets: [secret], ...names, now: () => now })
    const foreign = new JWTKeys({ secrets: ['f'.repeat(32)], ...names })
    const get = await start(t, keys)
    const token = keys.sign(new SessionToken(id, new Date(now + 900_000)))
    const other = foreign.sign(new SessionToken(id))
    const nobody = [
      undefined,
      token,
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${other}`,
      'Bearer a.b.c',
      'Bearer .',
    ]
    for (const header of nobody) {
      const response = await get(header)
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), {}, header)
    }
    assert.deepEqual(await (await get('Bearer opaque')).json(), { robot: 'robot' })
    now += 900_000
    assert.deepEqual(await (await get(`Bearer ${token}`)).json(), {})
  })

  test('makes authorization mandatory with a guard behind it', async (t) => {
    const keys = new JWTKeys({ secrets: [secret], ...names })
    const get = await start(t, keys, guard(SessionToken))
    assert.equal((await get(`Bearer ${keys.sign(new SessionToken(id))}`)).status, 200)
    const missing = await get()
    assert.equal(missing.status, 401)
    assert.equal(missing.headers.get('www-authenticate'), 'Bearer realm="restricted"')
    const bad = await get('Bearer a.b.c')
    assert.equal(bad.status, 401)
    assert.equal(bad.headers.get('www-authenticate'), 'Bearer realm="restricted", error="invalid_token"')
    assert.equal((await get('Bearer opaque')).status, 401)
  })
})

describe('JWTAuthenticator', () => {
  test('authenticates the class that it was made for', () => {
    const keys = new JWTKeys({ secrets: [secret], ...names })
    assert.equal(new JWTAuthenticator(SessionToken, keys).user, SessionToken)
  })
})
