import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import Koa from 'koa'
import session from 'koa-session'
import { actingAs } from './acting-as.ts'
import { type AuthContext, auth } from './auth.ts'
import { BearerAuthenticator } from './bearer.ts'
import { guard } from './guard.ts'
import { SessionAuthenticator } from './session.ts'
import { MemoryStore } from './testing/memory-store.ts'

class User {
  readonly sessionID = 'ada'
}
class Admin {
  readonly name = 'root'
}

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An application with a session and tokens. Its pages need a user, a fresh user and an admin. */
function application(store = new MemoryStore()) {
  const app = new Koa<object, AuthContext>()
  app.keys = ['a key for tests']
  app.silent = true
  app.use(session({ store }, app))
  app.use(auth())
  app.use(SessionAuthenticator.from(User, () => undefined))
  app.use(BearerAuthenticator.from(User, () => undefined))
  const guards = new Map([
    ['/user', guard(User)],
    ['/fresh', guard(User, { fresh: '1h', methods: ['otp'] })],
    ['/admin', guard(Admin)],
  ])
  app.use((ctx, next) => guards.get(ctx.path)?.(ctx, next))
  app.use((ctx) => {
    ctx.body = String(ctx.auth.get(User)?.sessionID)
  })
  return app
}

describe('actingAs', () => {
  test('begins a request with the user, and stores no session', async (t) => {
    const store = new MemoryStore()
    const url = await listen(t, actingAs(application(store), new User()))

    const response = await fetch(`${url}/user`, { headers: { authorization: 'Bearer wrong' } })

    assert.deepEqual([response.status, await response.text()], [200, 'ada'])
    assert.deepEqual([response.headers.getSetCookie(), store.ids], [[], []])
    assert.equal((await fetch(`${url}/fresh`)).status, 401)
    assert.equal((await fetch(`${url}/admin`)).status, 401)
  })

  test('accepts the listener of an application, several users, and how they authenticated', async (t) => {
    const listener = application().callback()
    const users = [new User(), new Admin()]
    const fresh = await listen(t, actingAs(listener, users, { methods: ['pwd', 'otp'] }))
    const at = new Date(Date.now() - 2 * 60 * 60 * 1000)
    const old = await listen(t, actingAs(listener, users, { methods: ['otp'], at }))

    assert.equal((await fetch(`${fresh}/fresh`)).status, 200)
    assert.equal((await fetch(`${fresh}/admin`)).status, 200)
    assert.equal((await fetch(`${old}/fresh`)).status, 401)
  })

  test('changes nothing for other requests of the application', async (t) => {
    const app = application()
    await listen(t, actingAs(app, new User()))
    const url = await listen(t, app.callback())

    assert.equal((await fetch(`${url}/user`)).status, 401)
  })

  test('rejects a plain object', () => {
    assert.throws(() => actingAs(application(), { name: 'ada' }), { code: 'ERR_AUTH_MISUSE' })
  })
})
