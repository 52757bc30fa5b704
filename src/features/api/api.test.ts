import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JWTKeys, SessionToken } from '#auth/jwt'
import { count, hide, sql } from '../../testing/database.ts'
import { addAdmin, basic, bearer, keysOf, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'
import { newTokenValue } from '../../users/user-token.ts'

const bearerChallenge = 'Bearer realm="restricted"'
const refusedToken = 'Bearer realm="restricted", error="invalid_token"'
const basicChallenge = 'Basic realm="restricted", charset="UTF-8"'

describe('GET /me', () => {
  test('S61 S88 returns the user record to a session, an opaque token and a JWT', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const answers = [
      await (await signIn(site, person)).get('/me'),
      await site.visitor().get('/me', bearer(await takeToken(site, person))),
      await site.visitor().get('/me', bearer(await takeJWT(site, person))),
    ]
    for (const { status, record, cookies, headers } of answers) {
      assert.deepEqual([status, record], [200, { ...person }])
      assert.deepEqual(cookies, [], 'only signing in writes a session')
      assert.equal(headers['cache-control'], 'no-store')
    }
  })

  test('A3 S63 S98 rejects an anonymous request with 401 and a challenge without an error code', async (t) => {
    const site = await startSite(t)
    const { status, challenges } = await site.visitor().get('/me')
    assert.deepEqual([status, challenges], [401, [bearerChallenge]])
    const page = await site.visitor().page('/me')
    assert.equal(page.status, 401)
    assert.match(page.text, /<a class="button" href="\/login">/)
  })

  test('A8 S63 S96 rejects an invalid token with 401 and invalid_token', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const token = await takeToken(site, person)
    const jwt = await takeJWT(site, person)
    const [header, payload] = jwt.split('.')
    const otherKeys = new JWTKeys({
      secrets: ['f'.repeat(32)],
      issuer: 'koa-authenticators',
      audience: 'koa-authenticators',
    })
    const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}`
    const refused = {
      'a token that was never issued': newTokenValue(),
      'a token with a wrong checksum': `${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`,
      'a token in another case': token.toUpperCase(),
      'a digest from the database': String((await sql(site, 'select value from user_tokens'))[0]?.value),
      'a JWT of other keys': await otherKeys.sign(new SessionToken(person.id)),
      'a JWT without a signature': `${header}.${payload}.`,
      'a JWT with the algorithm none': `${none}.x`,
      'a truncated JWT': jwt.slice(0, -1),
      'an expired JWT': await keysOf(site, () => Date.now() - 900_000).sign(
        new SessionToken(person.id, new Date(Date.now() - 1)),
      ),
    }
    for (const [what, each] of Object.entries(refused)) {
      const { status, challenges } = await site.visitor().get('/me', bearer(each))
      assert.deepEqual([status, challenges], [401, [refusedToken]], what)
    }
  })

  test('A4 accepts no password, and a token only in the header', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const token = await takeToken(site, person)
    // `bearerAuthorization` has tests of other header values.
    const headers: Record<string, string>[] = [
      basic(person),
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { cookie: `session=${token}` },
    ]
    for (const each of headers) {
      const { status, challenges } = await site.visitor().get('/me', each)
      assert.deepEqual([status, challenges], [401, [bearerChallenge]], JSON.stringify(Object.keys(each)))
    }
    assert.equal((await site.visitor().get(`/me?access_token=${token}`)).status, 401)
  })

  test('reads no session if the request has an Authorization header', async (t) => {
    const { site, person, ada } = await siteWithAda(t)
    const token = await takeToken(site, person)
    const restore = await hide(site, 'sessions')
    assert.equal((await ada.get('/me', bearer(token))).status, 200)
    await restore()
  })

  test('E9 J9 responds with 401 to the session, the token and the JWT of a disabled or deleted user', async (t) => {
    const site = await startSite(t)
    const endings = {
      Disabled: 'update users set disabled_at = 1 where id = ?',
      Deleted: 'delete from users where id = ?',
    }
    for (const [name, ending] of Object.entries(endings)) {
      const person = await signUp(site, name)
      const session = await signIn(site, person)
      const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
      await sql(site, ending, [person.id])
      for (const path of ['/me', '/secure']) {
        assert.equal((await session.get(path)).status, 401, `${name}: session at ${path}`)
        assert.equal((await site.visitor().get(path, bearer(token))).status, 401, `${name}: token at ${path}`)
        assert.equal((await site.visitor().get(path, bearer(jwt))).status, 401, `${name}: JWT at ${path}`)
      }
      assert.equal((await site.visitor().post('/login', basic(person))).status, 401)
      assert.equal((await session.page('/account')).status, 303)
      assert.equal((await session.page('/')).status, 200)
    }
    const [, disabled] = await sql(site, 'select 1 from sessions union all select 1 from user_tokens')
    assert.ok(disabled, 'the rows of a disabled account remain')
    await sql(site, 'update users set disabled_at = null')
    assert.equal(await count(site, 'sessions'), 1)
    assert.equal(await count(site, 'user_tokens'), 1)
  })
})

describe('POST /validateLoggedInUser', () => {
  test('S65 S90 responds with an empty 200 to a JWT, without a database query', async (t) => {
    const site = await startSite(t)
    const jwt = await takeJWT(site, await signUp(site))
    const restore = await hide(site, 'users', 'user_tokens', 'admins', 'sessions')
    const answer = await site.visitor('x'.repeat(43)).post('/validateLoggedInUser', bearer(jwt))
    assert.deepEqual([answer.status, answer.text, answer.cookies], [200, '', []])
    await restore()
  })

  test('S64 S94 rejects a session, an opaque token, a password, an expired JWT and an anonymous request with 401', async (t) => {
    const { site, person, ada: session } = await siteWithAda(t)
    const token = await takeToken(site, person)
    const over = await keysOf(site, () => Date.now() - 900_000).sign(
      new SessionToken(person.id, new Date(Date.now() - 1)),
    )
    const path = '/validateLoggedInUser'
    for (const answer of [
      await session.post(path),
      await site.visitor().post(path),
      await site.visitor().post(path, basic(person)),
    ])
      assert.deepEqual([answer.status, answer.challenges], [401, [bearerChallenge]])
    for (const each of [token, over]) {
      const { status, challenges } = await site.visitor().post(path, bearer(each))
      assert.deepEqual([status, challenges], [401, [refusedToken]])
    }
    assert.equal((await session.get(path)).status, 405)
  })
})

describe('GET /secure', () => {
  test('S66 accepts an admin by password, as Admin', async (t) => {
    const site = await startSite(t)
    const grace = await addAdmin(site)
    const { status, record, cookies } = await site.visitor().get('/secure', basic(grace))
    assert.deepEqual([status, record], [200, { as: 'Admin', id: grace.id, name: 'Grace' }])
    assert.deepEqual(cookies, [])
  })

  test('S66 accepts a user by session, opaque token and JWT, as User', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const answers = [
      await (await signIn(site, person)).get('/secure'),
      await site.visitor().get('/secure', bearer(await takeToken(site, person))),
      await site.visitor().get('/secure', bearer(await takeJWT(site, person))),
    ]
    for (const { status, record } of answers)
      assert.deepEqual([status, record], [200, { as: 'User', id: person.id, name: 'Ada' }])
  })

  test('distinguishes an admin and a user with the same address by their credentials', async (t) => {
    const site = await startSite(t)
    const user = await signUp(site, 'Grace')
    const admin = await addAdmin(site, 'Grace')
    const session = await signIn(site, user)
    assert.equal((await session.get('/secure')).record.as, 'User')
    const { record } = await session.get('/secure', basic(admin))
    assert.deepEqual([record.as, record.id], ['Admin', admin.id])
  })

  test('A3 S66 rejects other requests with 401 and a challenge for each scheme', async (t) => {
    const site = await startSite(t)
    const user = await signUp(site)
    const admin = await addAdmin(site)
    const session = await signIn(site, user)
    const refused = [
      await site.visitor().get('/secure'),
      await site.visitor().get('/secure', basic(user)),
      await site.visitor().get('/secure', basic(admin, 'wrong')),
      await session.get('/secure', basic(user)),
    ]
    for (const { status, challenges } of refused)
      assert.deepEqual([status, challenges], [401, [basicChallenge, bearerChallenge]])
    const { challenges } = await site.visitor().get('/secure', bearer('x'))
    assert.deepEqual(challenges, [basicChallenge, refusedToken])
    await sql(site, 'update admins set disabled_at = 1')
    assert.equal((await site.visitor().get('/secure', basic(admin))).status, 401)
  })
})
