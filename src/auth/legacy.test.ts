import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import session from 'koa-session'
import { type AuthContext, auth } from './auth.ts'
import { BearerAuthenticator } from './bearer.ts'
import { assertAuthenticated, tokenAuthentication } from './legacy.ts'
import { SessionAuthenticator } from './session.ts'
import { MemoryStore } from './testing/memory-store.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serve } from './testing/serve.ts'
import { serveAuth } from './testing/serve-auth.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('tokenAuthentication', () => {
  test('A8 S43 S63 S95 responds to GET /me with the name, and to an unknown or missing token with the same 403', async (t) => {
    class User {
      static readonly TokenType = {
        find: async (token: string) => (token === 'right' ? { user: new User('Ada') } : undefined),
      }
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
    }
    const router = new Router<object, AuthContext>()
    router.get('/me', tokenAuthentication(User), (ctx) => {
      ctx.type = 'text/plain'
      ctx.body = assertAuthenticated(ctx, User).name
    })
    const { url, port } = await serveAuth(t, router)

    const response = await fetch(`${url}/me`, { headers: bearer('right') })
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain\b/)
    assert.equal(await response.text(), 'Ada')

    const bodies = new Set<string>()
    for (const headers of [bearer('wrong'), bearer('right x'), { authorization: 'Basic cmlnaHQ6' }, {}]) {
      const refused = await fetch(`${url}/me`, { headers })
      assert.equal(refused.status, 403)
      assert.equal(refused.headers.get('www-authenticate'), null)
      bodies.add(await refused.text())
    }
    assert.deepEqual([...bodies], ['You may not see this.'])
    const doubled = ['Authorization: Bearer right', 'Authorization: Bearer right']
    assert.equal((await rawRequest(port, doubled, 'GET /me HTTP/1.1')).status, 403)
  })

  test('A8 responds with 403 to the token of a deleted user, and a valid token starts no session with `remember: "signed-in"`', async (t) => {
    class User {
      static readonly TokenType = { find: (token: string) => tokens.get(token) }
      readonly sessionID = 'ada'
    }
    const ada = new User()
    // In JavaScript, `find` may return a token without a user, for example from a left join.
    const tokens = new Map([
      ['right', { user: ada }],
      ['orphan', { user: null as unknown as User }],
      ['empty', {} as { user: User }],
    ])
    const app = new Koa<object, AuthContext>()
    app.use(session({ store: new MemoryStore(), signed: false }, app))
    app.use(auth())
    app.use(SessionAuthenticator.from(User, () => ada, { remember: 'signed-in' }))
    app.use(tokenAuthentication(User))
    app.use((ctx) => {
      ctx.body = 'in'
    })
    const { url } = await serve(t, app)
    for (const token of ['orphan', 'empty'])
      assert.equal((await fetch(url, { headers: bearer(token) })).status, 403, token)
    const response = await fetch(url, { headers: bearer('right') })
    assert.deepEqual([response.status, response.headers.getSetCookie()], [200, []])
  })
})

describe('assertAuthenticated', () => {
  test('S21 returns the authenticated user, and responds with 403 without a user', async (t) => {
    class User {
      readonly name = 'Ada'
    }
    const byToken = BearerAuthenticator.from(User, (token) => (token === 'right' ? new User() : undefined))
    const { url } = await serveAuth(t, byToken, (ctx) => {
      ctx.body = assertAuthenticated(ctx, User).name
    })

    assert.equal(await (await fetch(url, { headers: bearer('right') })).text(), 'Ada')
    assert.equal((await fetch(url, { headers: bearer('wrong') })).status, 403)
    assert.equal((await fetch(url)).status, 403)
  })
})
