import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { client, type Forgery, fakeOpenID } from '../testing/fake-openid.ts'
import type { Reply } from '../testing/fake-provider.ts'
import { begin, Person, read, serveProviders, signInWith, visit } from '../testing/sign-in-with.ts'
import { OpenIDProvider, type OpenIDProviderOptions } from './openid-provider.ts'

async function serveCompany(
  t: TestContext,
  options: Partial<OpenIDProviderOptions> = {},
  session: { signedIn?: Person } = {},
) {
  const [company, other] = await Promise.all([fakeOpenID(), fakeOpenID()])
  t.after(() => Promise.all([company.close(), other.close()]))
  const make = (callback: (name: string) => string) => [
    new OpenIDProvider({
      name: 'company',
      issuer: company.url,
      callbackUrl: callback('company'),
      ...client,
      ...options,
    }),
    new OpenIDProvider({ name: 'other', issuer: other.url, callbackUrl: callback('other'), ...client }),
  ]
  const { browser } = await serveProviders(t, make, session)
  return { company, other, browser }
}

describe('OpenIDProvider', () => {
  it('V1 identifies a person by the issuer and the subject', async (t) => {
    const { company, browser } = await serveCompany(t)
    const { user, data } = await signInWith(browser(), '/company')
    assert.equal(user?.issuer, company.url)
    assert.equal(user?.subject, 'person-1')
    assert.equal(user?.email, 'ada@example.com')
    assert.deepEqual(data, { next: '/after' })
  })

  it('V6 counts an address as verified only if the provider says so', async (t) => {
    const { company, browser } = await serveCompany(t)
    for (const [claim, isVerified] of [
      [true, true],
      ['true', true],
      [false, false],
      ['false', false],
      [1, false],
      [null, false],
      [undefined, false],
    ] as const) {
      company.forgery = { claims: { email_verified: claim } }
      assert.equal((await signInWith(browser(), '/company')).user?.isEmailVerified, isVerified, String(claim))
    }
  })

  it('V17 V18 is as fresh as `auth_time` says', async (t) => {
    const { company, browser } = await serveCompany(t)
    const seconds = Math.floor(Date.now() / 1000)
    for (const [time, isFresh] of [
      [seconds, true],
      [seconds + 3600, true],
      [seconds - 3600, false],
      [undefined, false],
      [0, false],
      [-1, false],
      [String(seconds), false],
      [1e300, false],
    ] as const) {
      company.forgery = { claims: { auth_time: time } }
      const { status, isFresh: found } = await signInWith(browser(), '/company')
      assert.equal(status === 200 && found, isFresh, String(time))
    }
  })

  it('V20 asks for a new sign-in with `maxAge`, and refuses an old one', async (t) => {
    const { company, browser } = await serveCompany(t)
    const visitor = browser()
    const url = await begin(visitor, '/company?maxAge=0')
    assert.equal(url.searchParams.get('prompt'), 'login')
    company.forgery = { claims: { auth_time: Math.floor(Date.now() / 1000) - 3600 } }
    const { user, refused, code } = await read(await visitor.get(await visit(url)))
    assert.deepEqual([user, refused, code], [undefined, 'invalid', 'auth_time'])
  })

  it('V20 asks for a new sign-in by the age alone if a `prompt` is configured', async (t) => {
    const { browser } = await serveCompany(t, { parameters: { prompt: 'select_account' } })
    const { searchParams } = await begin(browser(), '/company?maxAge=0')
    assert.deepEqual([searchParams.getAll('prompt'), searchParams.get('max_age')], [['select_account'], '1'])
  })

  it('signs in nobody with a forged or foreign ID token', async (t) => {
    const { company, browser } = await serveCompany(t)
    const forgeries: readonly Forgery[] = [
      { signedBy: 'other' },
      { signedBy: 'secret' },
      { signedBy: 'none' },
      { header: { kid: 'unknown' } },
      { claims: { iss: 'https://attacker.example' } },
      { claims: { aud: 'another-client' } },
      { claims: { aud: ['site', 'another-client'] } },
      { claims: { nonce: 'another nonce' } },
      { claims: { nonce: undefined } },
      { claims: { exp: Math.floor(Date.now() / 1000) - 3600 } },
      { claims: { exp: undefined } },
      { claims: { iat: undefined } },
      { claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } },
      ...[undefined, '', 1, 'a\0b', 'a\u{1f600}', 'x'.repeat(256)].map((sub) => ({ claims: { sub } })),
    ]
    for (const forgery of forgeries) {
      company.forgery = forgery
      const { user, status } = await signInWith(browser(), '/company')
      assert.equal(user, undefined, JSON.stringify(forgery))
      assert.ok(status === 200 || status === 503)
    }
    company.forgery = {}
    assert.ok((await signInWith(browser(), '/company')).user)
  })

  it('V21 accepts an answer once, in the browser that started the flow', async (t) => {
    const { browser } = await serveCompany(t)
    const ada = browser()
    const path = await visit(await begin(ada, '/company'))
    assert.equal((await read(await browser().get(path))).refused, 'expired')
    assert.ok((await read(await ada.get(path))).user)
    assert.equal((await read(await ada.get(path))).refused, 'expired')
  })

  it('V22 keeps the flows of several tabs apart', async (t) => {
    const { browser } = await serveCompany(t)
    const ada = browser()
    const [one, two] = [await begin(ada, '/company'), await begin(ada, '/company')]
    assert.ok((await read(await ada.get(await visit(two)))).user)
    assert.ok((await read(await ada.get(await visit(one)))).user)
  })

  it('V23 sends no request to a provider for a forged, doubled or mixed-up answer', async (t) => {
    const { company, browser } = await serveCompany(t)
    await signInWith(browser(), '/company')
    const ada = browser()
    const paths = []
    for (const change of [
      (query: URLSearchParams) => query.set('iss', 'https://attacker.example'),
      (query: URLSearchParams) => query.delete('iss'),
      (query: URLSearchParams) => query.delete('code'),
      (query: URLSearchParams) => query.append('code', 'another'),
      (query: URLSearchParams) => query.append('state', 'another'),
      (query: URLSearchParams) => query.set('state', ''),
    ]) {
      const [path = '', search] = (await visit(await begin(ada, '/company'))).split('?')
      const query = new URLSearchParams(search)
      change(query)
      paths.push(`${path}?${query}`)
    }
    paths.push((await visit(await begin(ada, '/other'))).replace('/other/', '/company/'))
    company.requests.length = 0
    for (const path of paths) {
      const { user, refused } = await read(await ada.get(path))
      assert.equal(user, undefined, path)
      assert.match(String(refused), /invalid|expired/)
    }
    assert.deepEqual(company.requests, [])
  })

  it('V23 sends no code of one provider to another one, also if neither names its issuer in the answer', async (t) => {
    const { company, other, browser } = await serveCompany(t)
    const forgery = {
      metadata: { authorization_response_iss_parameter_supported: false },
      answer: { iss: undefined },
    }
    Object.assign(company, { forgery })
    Object.assign(other, { forgery })
    assert.ok((await signInWith(browser(), '/company')).user)
    const ada = browser()
    const mixedUp = (await visit(await begin(ada, '/other'))).replace('/other/', '/company/')
    company.requests.length = 0
    const { user, refused } = await read(await ada.get(mixedUp))
    assert.deepEqual([user, refused, company.requests], [undefined, 'expired', []])
  })

  it('V13 signs in the person of the answer, also if somebody else is signed in', async (t) => {
    const eve = new Person({
      issuer: 'https://company.example',
      subject: 'eve',
      email: undefined,
      isEmailVerified: false,
      name: undefined,
      authenticatedAt: undefined,
      methods: [],
      claims: {},
    })
    const { browser } = await serveCompany(t, {}, { signedIn: eve })
    assert.equal((await signInWith(browser(), '/company')).user?.subject, 'person-1')
  })

  it('V6 reads the address from the user info of the same person, after the claims of the ID token', async (t) => {
    const { company, browser } = await serveCompany(t)
    company.forgery = {
      metadata: { userinfo_endpoint: `${company.url}/userinfo` },
      claims: { email: undefined },
    }
    const info = { email: 'ada@company.example', email_verified: false, name: 'Bob' }
    const signInWithInfo = (sub: string) => {
      company.replies.set('/userinfo', { body: JSON.stringify({ ...info, sub }) })
      return signInWith(browser(), '/company')
    }
    const { user } = await signInWithInfo('person-1')
    assert.deepEqual([user?.email, user?.name, user?.isEmailVerified], ['ada@company.example', 'Ada', false])
    assert.equal((await signInWithInfo('person-2')).user, undefined)
  })

  it('V24 refuses the code of another flow', async (t) => {
    const { browser } = await serveCompany(t)
    const [stolen] = [new URL(await visit(await begin(browser(), '/company')), 'http://x')]
    const ada = browser()
    const own = new URL(await visit(await begin(ada, '/company')), 'http://x')
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '')
    const { user, refused } = await read(await ada.get(own.pathname + own.search))
    assert.deepEqual([user, refused], [undefined, 'invalid'])
  })

  it('says who refused', async (t) => {
    const { company, browser } = await serveCompany(t, {
      // In JavaScript, the result may be `undefined`.
      accepts: ({ claims }) => (claims.hd === 'example.com' || undefined) as boolean,
    })
    assert.equal((await signInWith(browser(), '/company')).refused, 'denied')
    company.forgery = { claims: { hd: 'example.com' } }
    assert.ok((await signInWith(browser(), '/company')).user)
    company.forgery = { answer: { code: undefined, error: 'access_denied' } }
    assert.deepEqual((await signInWith(browser(), '/company')).code, 'access_denied')
    company.forgery = { answer: { code: undefined, error: 'invalid_scope' } }
    assert.equal((await signInWith(browser(), '/company')).status, 503)
  })

  const broken: Record<string, Reply> = {
    'an error': { status: 500, body: 'oops' },
    HTML: { type: 'text/html', body: '<h1>Maintenance</h1>' },
    'an empty object': { body: '{}' },
    'a long answer': { body: JSON.stringify({ long: 'x'.repeat(300_000) }) },
    'a redirect': { status: 302, location: 'http://127.0.0.1:1/' },
    'a wrong client': { status: 401, body: '{"error":"invalid_client"}' },
    'an error with status 200': { body: '{"error":"server_error"}' },
  }
  for (const [name, reply] of Object.entries(broken)) {
    it(`V30 responds with 503 to ${name} of the provider, and recovers`, async (t) => {
      for (const path of ['/token', '/jwks', '/.well-known/openid-configuration']) await fails(path)

      async function fails(path: string): Promise<void> {
        // Another provider object, which has loaded nothing yet.
        const { company, browser } = await serveCompany(t)
        const visitor = browser()
        const isDiscovery = path.startsWith('/.well-known/')
        const answer = isDiscovery ? '' : await visit(await begin(visitor, '/company'))
        company.replies.set(path, reply)
        const failed = isDiscovery ? await visitor.post('/company') : await visitor.get(answer)
        assert.equal(failed.status, 503, path)
        company.replies.clear()
        assert.ok((await signInWith(browser(), '/company')).user, path)
      }
    })
  }

  it('V30 gives up on a provider that does not answer', async (t) => {
    const { company, browser } = await serveCompany(t, { timeout: 0.2 })
    const ada = browser()
    const path = await visit(await begin(ada, '/company'))
    company.replies.set('/token', 'hang')
    assert.equal((await ada.get(path)).status, 503)
  })

  it('V30 responds with 503 at the start and at a guard while the provider is down', async (t) => {
    const { company, browser } = await serveCompany(t)
    const ada = browser()
    const path = (await visit(await begin(ada, '/company'))).replace('/callback', '/guarded/callback')
    await company.close()
    assert.equal((await ada.get(path)).status, 503)
    assert.equal((await browser().post('/other')).status, 200)
  })

  it('V31 uses new keys after the first failure', async (t) => {
    const { company, browser } = await serveCompany(t)
    assert.ok((await signInWith(browser(), '/company')).user)
    company.rotateKeys()
    await signInWith(browser(), '/company')
    assert.ok((await signInWith(browser(), '/company')).user)
  })

  it('V32 sends its own callback URL, whatever the request says', async (t) => {
    const { browser } = await serveCompany(t)
    const response = await browser().post('/company', {}, { 'x-forwarded-host': 'attacker.example' })
    assert.doesNotMatch(await response.text(), /attacker/)
  })

  it('rejects a wrong configuration', () => {
    const options = {
      name: 'company',
      issuer: 'https://example.com',
      clientId: 'x',
      callbackUrl: 'https://a.example/c',
    }
    for (const change of [
      { issuer: 'http://example.com' },
      { issuer: 'example.com' },
      { clientId: '' },
      { name: '' },
      { callbackUrl: 'https://a.example/c?x=1' },
      { callbackUrl: '/callback' },
      { scope: 'email' },
    ])
      assert.throws(() => new OpenIDProvider({ ...options, ...change }), { name: 'Misuse' })
  })
})
