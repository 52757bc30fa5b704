import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, dump, sql } from '../testing/database.ts'
import { basic, bearer, signUp, takeToken } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

describe('cross-site requests', () => {
  test('G3 are detected by PUBLIC_URL, regardless of the requested host', async (t) => {
    const site = await startSite(t, { PUBLIC_URL: 'https://auth.example', TRUST_PROXY: '1' })
    assert.equal(await statusFrom(site, 'https://auth.example', 'inner.example'), 401)
    assert.equal(await statusFrom(site, 'https://inner.example', 'inner.example'), 403)
    assert.equal(await statusFrom(site, 'http://auth.example', 'auth.example'), 403)
  })

  test('are detected without PUBLIC_URL by comparison with the requested host', async (t) => {
    const site = await startSite(t)
    assert.equal(await statusFrom(site, 'http://here.example', 'here.example'), 401)
    assert.equal(await statusFrom(site, 'http://there.example', 'here.example'), 403)
    assert.equal(await statusFrom(site, 'http://here.example', 'here.example:8080'), 403)
  })

  test('G1 G6 without credentials are rejected only for unsafe methods, and get no CORS header', async (t) => {
    const site = await startSite(t)
    const otherSite = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      assert.equal((await site.visitor().send(method, '/nowhere', otherSite)).status, 403, method)
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      assert.equal((await site.visitor().send(method, '/', otherSite)).status, 200, method)
    const answer = await site
      .visitor()
      .send('OPTIONS', '/login', { ...otherSite, 'access-control-request-method': 'POST' })
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))
    assert.deepEqual(cors, [], 'no CORS headers')
    assert.equal(await count(site, 'users'), 0)
  })

  test('G4 with Basic credentials are rejected also for safe methods, without a check of the credentials', async (t) => {
    const site = await startSite(t, { THROTTLE: 'on' })
    const person = await signUp(site)
    const before = await sql(site, 'select * from attempts')
    for (const from of ['cross-site', 'same-site', 'Same-Origin'])
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'])
        for (const path of ['/secure', '/account/sessions', '/', '/nowhere'])
          for (const authorization of [
            basic(person),
            basic(person, 'wrong'),
            { authorization: 'bAsIc  x' },
          ]) {
            const headers = { 'sec-fetch-site': from, 'sec-fetch-mode': 'navigate', ...authorization }
            const { status, request, challenges } = await site.visitor().send(method, path, headers)
            assert.deepEqual([status, challenges], [403, []], request)
          }
    assert.deepEqual(await sql(site, 'select * from attempts'), before)

    const statusFrom = async (headers: Record<string, string>) =>
      (await site.visitor().get('/account/sessions', headers)).status
    for (const from of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }])
      assert.equal(await statusFrom({ ...basic(person), ...from }), 200)
    const token = bearer(await takeToken(site, person))
    assert.equal((await site.visitor().get('/me', { ...token, 'sec-fetch-site': 'cross-site' })).status, 200)
  })
})

describe('a GET request', () => {
  test('G4 cannot override its method by a header or a query parameter', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    for (const path of ['/logout?_method=POST', '/logout'])
      await ada.get(path, {
        'x-http-method-override': 'POST',
        'x-http-method': 'POST',
        'x-method-override': 'POST',
      })
    assert.deepEqual(await dump(site), before)
  })
})

async function statusFrom(site: Site, origin: string, host: string): Promise<number> {
  return (await site.visitor().json('/login', {}, { origin, host })).status
}
