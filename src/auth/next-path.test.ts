import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { nextPath, withNext } from './next-path.ts'
import { serve } from './testing/serve.ts'

const good = [
  '/',
  '/account',
  '/account/',
  '/account?tab=1',
  '/account?tab=1&tab=2#top',
  '/view/?param=http://example.com',
  '/view/?param=//example.com',
  '/view?param=%2F%2Fexample.com',
  '/view?param=a%26b%3Dc',
  '/url%20with%20spaces/',
  '/confirm?email=me@example.com',
  '/größe/🙂',
  '/gr%C3%B6%C3%9Fe',
  '/a;b=c/@me/~you/$1,2!',
  '/a:b',
  '/search?q=100%25',
  '/a//b',
  '/./account',
  '/a/../account',
  '/account?next=/.//example.com',
  '/%252F%252Fstays.encoded',
  `/${'a'.repeat(2047)}`,
]

const bad = [
  // from Django's tests/utils_tests/test_http.py
  'http://example.com',
  'http:///example.com',
  'https://example.com',
  'ftp://example.com',
  '\\\\example.com',
  '\\\\\\example.com',
  '/\\\\/example.com',
  '\\\\//example.com',
  '/\\/example.com',
  '\\/example.com',
  '/\\example.com',
  'http:/\\//example.com',
  'http:\\/example.com',
  'http:/\\example.com',
  'javascript:alert("XSS")',
  '\njavascript:alert(x)',
  'java\nscript:alert(x)',
  '\x08//example.com',
  'http://otherserver\\@example.com',
  'http:\\\\testserver\\@example.com',
  'http://testserver\\me:pass@example.com',
  'http://testserver\\@example.com',
  'http:\\\\testserver\\confirm\\me@example.com',
  'http:999999999',
  'ftp:9999999999',
  '\n',
  'http://[2001:cdba:0000:0000:0000:0000:3257:9652/',
  'http://2001:cdba:0000:0000:0000:0000:3257:9652]/',
  // no path, or a relative one
  '',
  ' ',
  '.',
  '..',
  'account',
  'account?x=1',
  ' /account',
  '?x=1',
  '#top',
  './account',
  '../account',
  '@example.com',
  ':80',
  'example.com',
  'path/http:2222222222',
  '%2Faccount',
  // another host, by two slashes or backslashes
  '//',
  '//example.com',
  '///example.com',
  '////example.com',
  '//example.com/%2f..',
  '//user@example.com',
  '//user:pass@example.com:80',
  '//[::1]',
  '//0x7f000001',
  '//\u2028example.com',
  '/\\',
  '/\\\\example.com',
  '\\/\\/example.com',
  '\\\\/example.com',
  ' //example.com',
  '\u00a0//example.com',
  '\u{feff}//example.com',
  '\u2028//example.com',
  '／／example.com',
  '⁄⁄example.com',
  // another scheme
  'HTTPS://example.com',
  'https:example.com',
  'https:/example.com',
  'https:account',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://example.com/1',
  'file:///etc/passwd',
  'mailto:me@example.com',
  'about:blank',
  'javascript://example.com/%0aalert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  '\u0001javascript:alert(1)',
  // control characters: browsers ignore tabs and line breaks in a URL
  '/\t/example.com',
  '/\n/example.com',
  '/\r/example.com',
  '/\r\n/example.com',
  '\t//example.com',
  '\t/account',
  '/account\n',
  '/account\r\nSet-Cookie: a=b',
  '/\0',
  '/\0/example.com',
  '/account\u007f',
  '/account\u0085',
  '/\u001f/example.com',
  // slashes, backslashes and control characters, percent-encoded
  '/%2Fexample.com',
  '/%2fexample.com',
  '/%2F%2Fexample.com',
  '/%5Cexample.com',
  '/%5c%5cexample.com',
  '/%5C/example.com',
  '/%09/example.com',
  '/%0A/example.com',
  '/%0D/example.com',
  '/%0D%0ASet-Cookie:%20a=b',
  '/account%00',
  '/account?x=%0A',
  '/account%C2%85',
  '/%2F',
  // a path that resolves to two slashes
  '/.//example.com',
  '/..//example.com',
  '/././/example.com',
  '/a/..//example.com',
  '/a/b/../..//example.com',
  '/.\\/example.com',
  '/./\\example.com',
  '/a/..\\\\example.com',
  '/%2e//example.com',
  '/%2E%2e//example.com',
  '/a/%2e%2e//example.com',
  '/a/..%2F/example.com',
  '/.%2F%2Fexample.com',
  '/.%5C/example.com',
  '/.//',
  '/.//example.com?next=/account',
  // malformed percent-encoding
  '/%',
  '/100%',
  '/%zz',
  '/%u002f',
  '/%C0%AF/example.com',
  '/%FF',
  '/%E2%80',
  // too long
  `/${'a'.repeat(2048)}`,
  `/${'ö'.repeat(1024)}`,
]

// Unusual but harmless: each is a path on this site, before and after percent-decoding.
const odd = [
  '/a//example.com',
  '/@example.com',
  '/;@example.com',
  '/:@example.com',
  '/.example.com',
  '/a\\example.com',
  '/ /example.com',
  '/%20/example.com',
  '/\u2028/example.com',
  '/／example.com',
  '/%EF%BC%8Fexample.com',
  '/\u3002example.com',
  '/%252F%252Fexample.com',
  '/%255Cexample.com',
  '/%2509/example.com',
  '/http://example.com',
  '/javascript:alert(1)',
  '/<script>alert(1)</script>',
  '/"onmouseover="alert(1)',
]

describe('nextPath', () => {
  test('returns a path on this site unchanged', () => {
    for (const next of [...good, ...odd]) assert.equal(nextPath(next, '/account-page'), next)
  })

  test('P8 returns the fallback for a value that is not a path on this site', () => {
    assert.equal(bad.length, 130, 'as promise H1 states')
    for (const next of bad)
      assert.equal(nextPath(next, '/account-page'), '/account-page', JSON.stringify(next))
  })

  test('returns the fallback for a value that is not a string, or has half a surrogate pair', () => {
    // Half a surrogate pair cannot be encoded in a URL.
    const half = ['/\ud800', '/account?a=\udc00']
    const values = [
      undefined,
      null,
      0,
      1,
      true,
      {},
      [],
      ['/account'],
      { toString: () => '/account' },
      ...half,
    ]
    for (const next of values) assert.equal(nextPath(next, '/account-page'), '/account-page')
  })

  test('H1 never redirects to another site, whether `next` is in a query or in a form', async (t) => {
    const app = new Koa()
    app.use(bodyParser())
    app.use((ctx) => {
      const { body } = ctx.request as { body?: { next?: unknown } }
      ctx.redirect(nextPath(body?.next ?? ctx.query.next, '/account-page'))
    })
    const { url } = await serve(t, app)

    for (const next of [...good, ...bad, ...odd]) {
      const body = new URLSearchParams({ next })
      for (const response of [
        await fetch(`${url}/?${body}`, { redirect: 'manual' }),
        await fetch(url, { method: 'POST', body, redirect: 'manual' }),
      ]) {
        assert.equal(response.status, 302, next)
        assert.equal(response.headers.has('set-cookie'), false)
        const location = response.headers.get('location') ?? ''
        assert.equal(new URL(location, url).origin, url, next)
        assert.doesNotMatch(await response.text(), /[<>"]/)
        if (bad.includes(next)) assert.equal(location, '/account-page', next)
      }
    }
  })

  test('H1 never redirects to another site: 5,000 random paths', () => {
    const parts = [
      '/',
      '\\',
      '%2F',
      '%5c',
      '%09',
      '\t',
      '\n',
      '.',
      '..',
      '@',
      ':',
      '?',
      '#',
      '%',
      '%25',
      ' ',
      'a.b',
    ]
    const text = fc.array(fc.constantFrom(...parts, 'https:', '\u2028', '\0', '／', '%00'), { maxLength: 8 })

    fc.assert(
      fc.property(text, (pieces) => {
        const next = nextPath(pieces.join(''), '/')
        for (const each of [next, decodeURIComponent(next)]) {
          const { origin, pathname } = new URL(each, 'https://example.org')
          assert.equal(origin, 'https://example.org')
          assert.doesNotMatch(pathname, /^[/][/]/)
          assert.doesNotMatch(each, /^[/\\]{2}|\p{Cc}/u)
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe('withNext', () => {
  test('encodes path and query as one parameter, which decodes to the same bytes', () => {
    for (const url of good.filter((each) => !each.includes('#'))) {
      const to = withNext('/login', { method: 'GET', originalUrl: url })
      const { pathname, searchParams } = new URL(to, 'https://example.org')
      assert.equal(pathname, '/login')
      assert.deepEqual([...searchParams], [['next', url]])
      assert.equal(nextPath(searchParams.get('next'), '/account-page'), url)
    }
    assert.equal(withNext('/login', { method: 'GET', originalUrl: '/account' }), '/login?next=%2Faccount')
  })

  test('appends to an existing query', () => {
    const to = withNext('/login?required=1', { method: 'GET', originalUrl: '/a?b=c&d' })
    assert.equal(to, '/login?required=1&next=%2Fa%3Fb%3Dc%26d')
  })

  test('drops a target that is not a path on this site', () => {
    for (const url of [...bad, 'http://localhost/account', '*']) {
      assert.equal(withNext('/login', { method: 'GET', originalUrl: url }), '/login', url)
    }
  })

  test('H3 drops the target of a POST, PUT, PATCH, DELETE or OPTIONS request', () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get']) {
      assert.equal(withNext('/login', { method, originalUrl: '/account' }), '/login', method)
    }
  })
})
