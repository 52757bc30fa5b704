import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, signIn, signUp } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'
import { siteWithAda } from '../../testing/site-with-ada.ts'

const signOut = /<form method="post" action="\/logout">/

describe('GET /', () => {
  test('is the home page for a visitor, with a sign-in link', async (t) => {
    const site = await startSite(t)
    for (const answer of [await site.visitor().page('/'), await site.visitor().get('/')]) {
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(answer.text, /<a href="\/login">Sign in<\/a>/)
      assert.doesNotMatch(answer.text, signOut)
    }
  })

  test('S91 shows the signed-in user', async (t) => {
    const { ada } = await siteWithAda(t)
    const { status, text } = await ada.page('/')
    assert.equal(status, 200)
    assert.match(text, /Account of <\/span><bdi>Ada<\/bdi>/)
    assert.match(text, signOut)
  })

  test('shows PUBLIC_URL or the requested host in the curl commands', async (t) => {
    const plain = await startSite(t)
    const { text } = await plain.visitor().page('/', { host: 'auth.example' })
    assert.match(text, /curl -i http:\/\/auth\.example\/me/)
    const site = await startSite(t, { PUBLIC_URL: 'https://example.com', TRUST_PROXY: '1' })
    assert.match((await site.visitor().page('/')).text, /curl -i https:\/\/example\.com\/me/)
    const hostile = await plain.visitor().page('/', { host: 'a"><script>' })
    assert.ok(!hostile.text.includes('"><script>'))
  })
})

describe('GET /login', () => {
  test('keeps a safe `next` in the form, and replaces any other by /account', async (t) => {
    const site = await startSite(t)
    const safe = '/account?a=1&b=%2F'
    const nextOf = async (next: string) => {
      const { text } = await site.visitor().page(`/login?next=${encodeURIComponent(next)}`)
      // Without a valid `next`, the page has no notice.
      assert.equal(text.includes('Sign in to see that page.'), next === safe, next)
      return /name="next" value="([^"]*)"/.exec(text)?.[1]
    }
    assert.equal(await nextOf(safe), '/account?a=1&amp;b=%2F')
    for (const next of ['//evil.example', '']) assert.equal(await nextOf(next), '/account', next)
  })

  test('links to sign-up, and passes on the requested page', async (t) => {
    const site = await startSite(t)
    const { text } = await site.visitor().page('/login?next=%2Faccount%2Fsessions%3Fa%3D1%26b')
    const href = /href="(\/signup\?[^"]*)"/.exec(text)?.[1] ?? assert.fail(text)
    const form = await site.visitor().page(href)
    assert.match(form.text, /<input type="hidden" name="next" value="\/account\/sessions\?a=1&amp;b">/)
    assert.match(form.text, /href="\/login\?next=%2Faccount%2Fsessions%3Fa%3D1%26b"/)
    assert.doesNotMatch(
      (await site.visitor().page('/signup?next=%2F%2Fevil.example')).text,
      /evil|name="next"/,
    )
    const ada = await signIn(site, await signUp(site))
    assert.equal((await ada.page(href)).headers.location, '/account/sessions?a=1&b')
  })

  test('S91 redirects a signed-in user to a safe `next`, otherwise to the account', async (t) => {
    const { ada } = await siteWithAda(t)
    const sentTo = async (query: string) => {
      const { status, headers } = await ada.page(`/login${query}`)
      assert.equal(status, 303)
      return headers.location
    }
    assert.equal(await sentTo(''), '/account')
    assert.equal(await sentTo('?next=%2Fsecure%3Fa%3D1'), '/secure?a=1')
    assert.equal(await sentTo('?next=%2F%2Fevil.example'), '/account')
    assert.equal(await sentTo('?next=%2Fa&next=%2Fb'), '/account')
    assert.equal(await sentTo('?next[a]=%2Fa'), '/account')
  })
})

describe('GET /account', () => {
  test('S67 S91 is the page of the signed-in user', async (t) => {
    const { ada } = await siteWithAda(t)
    const { status, text } = await ada.page('/account')
    assert.equal(status, 200)
    assert.match(text, /value="Ada"/)
    assert.match(text, /<dd>ada@example\.com<\/dd>/)
  })

  test('S67 redirects a visitor to sign-in with 303, and passes the requested path and query in one parameter', async (t) => {
    const site = await startSite(t)
    const sentTo = async (path: string, headers = {}) => {
      const answer = await site.visitor().page(path, headers)
      assert.equal(answer.status, 303)
      return answer.headers.location
    }
    assert.equal(await sentTo('/account'), '/login?next=%2Faccount')
    assert.equal(await sentTo('/account?a=1&b=2'), '/login?next=%2Faccount%3Fa%3D1%26b%3D2')
    assert.equal(await sentTo('/account', { cookie: `session=${'x'.repeat(43)}` }), '/login?next=%2Faccount')
    const head = await site.visitor().send('HEAD', '/account')
    assert.deepEqual([head.status, head.headers.location], [303, '/login?next=%2Faccount'])
  })
})

describe('a query of thousands of parameters', () => {
  test('is parsed once for each parameter that the route reads', async (t) => {
    const { site, person: ada, ada: visitor } = await siteWithAda(t)
    const many = `?${'a&'.repeat(7_000)}`
    const parses = t.mock.method(URLSearchParams.prototype, 'getAll')
    const answers = [
      await site.visitor().page(`/login${many}`),
      await site.visitor().page(`/signup${many}`),
      await visitor.page(`/account/activity${many}`),
      await site.visitor().post(`/login${many}`, basic(ada)),
    ]
    for (const { status } of answers) assert.equal(status, 200)
    // The routes read `next`, `expired` and `cancelled`; `next`; `before` and `kind`; `as`.
    assert.equal(parses.mock.callCount(), 3 + 1 + 2 + 1)
  })
})

describe('static files', () => {
  test('are served with their type, and with 304 if the browser has them cached', async (t) => {
    const site = await startSite(t)
    const types = {
      '/style.css': 'text/css; charset=utf-8',
      '/account.css': 'text/css; charset=utf-8',
      '/demo.css': 'text/css; charset=utf-8',
      '/app.js': 'text/javascript; charset=utf-8',
      '/passkeys.js': 'text/javascript; charset=utf-8',
      '/favicon.svg': 'image/svg+xml',
      '/apple-touch-icon.png': 'image/png',
      '/picture.png': 'image/png',
      '/manifest.webmanifest': 'application/manifest+json; charset=utf-8',
    }
    for (const [path, type] of Object.entries(types)) {
      const { status, headers, cookies } = await site.visitor().get(path)
      assert.deepEqual([status, headers['content-type'], cookies], [200, type, []])
      assert.equal(headers['cache-control'], 'no-cache')
      const again = await site.visitor().get(path, { 'if-none-match': headers.etag ?? '' })
      assert.deepEqual([again.status, again.text], [304, ''])
      const head = await site.visitor().send('HEAD', path)
      assert.deepEqual([head.status, head.headers['content-length']], [200, headers['content-length']])
    }
  })

  test('of a page are kept for a year, until their version changes', async (t) => {
    const site = await startSite(t)
    const { text } = await site.visitor().page('/login')
    const [path = ''] = text.match(/\/style\.css\?v=[\w-]{10}/) ?? []
    const cacheControlOf = async (path: string) => (await site.visitor().get(path)).headers['cache-control']
    assert.equal(await cacheControlOf(path), 'public, max-age=31536000, immutable')
    assert.equal(await cacheControlOf('/style.css?v=another1234'), 'no-cache')
    const branded = await startSite(t, { BRAND_COLOR: '#0055ff' })
    assert.ok(!(await branded.visitor().page('/login')).text.includes(path))
  })

  test('are compressed with Brotli or gzip, each with its own ETag, if the browser accepts it', async (t) => {
    const site = await startSite(t)
    const plain = await fetch(`${site.url}/style.css`, { headers: { 'accept-encoding': 'identity' } })
    const sheet = await plain.text()
    const etags = [plain.headers.get('etag')]
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip, br;q=0', 'gzip'],
    ] as const) {
      const answer = await fetch(`${site.url}/style.css`, { headers: { 'accept-encoding': accepted } })
      assert.equal(answer.headers.get('content-encoding'), encoding)
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
      assert.ok(Number(answer.headers.get('content-length')) < sheet.length / 2)
      assert.equal(await answer.text(), sheet)
      etags.push(answer.headers.get('etag'))
    }
    assert.equal(new Set(etags).size, 3)
    const picture = await fetch(`${site.url}/picture.png`, { headers: { 'accept-encoding': 'br' } })
    assert.deepEqual([picture.headers.get('content-encoding'), picture.headers.get('vary')], [null, null])
  })

  test('and the home page have at most 30 KB for a first visit, without the example', async (t) => {
    const site = await startSite(t)
    const { text } = await site.visitor().page('/')
    const paths = [
      ...text.matchAll(/(?:rel="(?:stylesheet|icon)"|script type="module") (?:href|src)="([^"]+)"/g),
    ]
    assert.equal(paths.length, 4)
    let size = text.replace(/<figure[\s\S]*<\/figure>/, '').length
    for (const [, path = ''] of paths) size += (await site.visitor().get(path)).text.length
    assert.ok(size <= 30_000, `${size} bytes`)
  })
})

describe('the home page', () => {
  test('of a site without a name has a description and a picture for previews of links', async (t) => {
    const site = await startSite(t)
    const { text } = await site.visitor().page('/')
    assert.match(text, /<meta name="description" content="Sessions, [^"]+">/)
    assert.ok(text.includes(`<meta property="og:image" content="${site.url}/picture.png">`))
  })
})

describe('the site', () => {
  const tls = { PUBLIC_URL: 'https://example.com', TRUST_PROXY: '1' }

  test('F1 L4 sends HSTS over TLS, and a cookie with the name __Host-session and the attribute Secure', async (t) => {
    const site = await startSite(t, tls)
    const ada = site.visitor()
    await signIn(site, await signUp(site), { visitor: ada })
    assert.deepEqual([...ada.cookies.keys()], ['__Host-session'])
    const { headers } = await ada.page('/account', { 'x-forwarded-proto': 'https' })
    assert.equal(headers['strict-transport-security'], 'max-age=63072000; includeSubDomains')
    const out = await ada.form('/logout', {})
    assert.deepEqual(out.cookies, ['__Host-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure'])
  })

  test('F2 ignores the cookie name of plain HTTP if PUBLIC_URL is https', async (t) => {
    const site = await startSite(t, tls)
    const ada = await signIn(site, await signUp(site))
    assert.equal((await ada.get('/me')).status, 200)
    assert.equal((await site.visitor(ada.session).get('/me')).status, 401)
  })

  test('F1 L4 sends no HSTS over plain HTTP, and a cookie with the name session', async (t) => {
    const { ada } = await siteWithAda(t)
    assert.equal((await ada.page('/account')).headers['strict-transport-security'], undefined)
    assert.ok(ada.cookies.has('session'))
  })
})
