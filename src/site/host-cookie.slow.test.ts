import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { newIdentifier } from '../database/identifier.ts'
import { dumpAll } from '../testing/dump.ts'
import { signIn, signUp } from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { others, routes } from '../testing/routes.ts'
import { startSite } from '../testing/site.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

// Excludes characters that a client cannot send in a header.
const units = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code))
const garbage = fc.sample(
  fc.oneof(
    fc.string({ unit: units, maxLength: 80 }),
    fc.base64String({ maxLength: 80 }),
    fc.constantFrom('__proto__', 'constructor', "' or 1=1 --", '%00', '%', 'null', '{"user":"x"}', '"', '='),
    fc.constantFrom(
      'x'.repeat(4000),
      ';',
      ',',
      'a; session=b',
      '\ttab',
      `"${'x'.repeat(43)}"`,
      'x'.repeat(42),
    ),
  ),
  200,
)

describe('the session cookie', () => {
  test('E1 has 256 random bits: 20,000 values are unique, and each bit is set in about half of them', () => {
    const values = Array.from({ length: 20_000 }, newIdentifier)
    assert.equal(new Set(values).size, values.length)
    const ones = new Array<number>(256).fill(0)
    for (const value of values) {
      const bytes = Buffer.from(value, 'base64url')
      assert.equal(bytes.length, 32)
      for (let bit = 0; bit < 256; bit += 1)
        ones[bit] = (ones[bit] ?? 0) + (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1)
    }
    // The mean is 10,000 and the standard deviation 70.7, so the bound is seven standard deviations.
    for (const [bit, n] of ones.entries())
      assert.ok(Math.abs(n - 10_000) < 500, `bit ${bit} was set ${n} times`)
  })

  test('E2 E15 with a value that the site did not issue authenticates no user, writes no row and runs at most one look-up by key', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dumpAll(site)
    assert.equal((await ada.get('/me')).status, 200)
    const statements = await recordSiteStatements(t, site)
    const invented = Array.from({ length: 50 }, newIdentifier)
    for (const [i, value] of [...garbage, ...invented].entries()) {
      const name = i % 3 === 0 ? '__Host-session' : 'session'
      const { status, cookies } = await site.visitor().get('/me', { cookie: `${name}=${value}` })
      assert.deepEqual([status, cookies], [401, []], value.slice(0, 60))
      const executed = statements()
      assert.ok(executed.length <= (/[\w-]{43}/.test(value) ? 1 : 0), value.slice(0, 60))
      for (const each of executed)
        assert.match(each, / from `?sessions`? .*where (`\w+`\.`digest`|digest) = /)
    }
    assert.deepEqual(await dumpAll(site), before)
    assert.equal((await ada.get('/me')).status, 200)
  })

  test('E15 authenticates by its first value if a request contains it twice', async (t) => {
    const site = await startSite(t)
    const ada = (await signIn(site, await signUp(site, 'Ada'))).session
    const bob = (await signIn(site, await signUp(site, 'Bob'))).session
    const nameOf = async (cookie: string) => (await site.visitor().get('/me', { cookie })).record.name
    assert.equal(await nameOf(`session=${ada}; session=${bob}`), 'Ada')
    assert.equal(await nameOf(`session=${bob}; session=${ada}`), 'Bob')
    assert.equal(await nameOf(`session=x; session=${ada}`), undefined)
    assert.equal(await nameOf(`x=session=${bob}; session=${ada}`), 'Ada')
  })

  test('E13 is not set for an anonymous visitor: on a site without passkeys, no page sets a cookie or runs a database statement', async (t) => {
    const { site } = await providerSite(t)
    const before = await dumpAll(site)
    const statements = await recordSiteStatements(t, site)
    const pages = [...routes, ...others].filter(({ method, path }) => method === 'GET' && path !== '/readyz')
    for (const { path } of pages) {
      for (const answer of [await site.visitor().page(path), await site.visitor().get(path)])
        assert.deepEqual([answer.cookies, statements()], [[], []], path)
    }
    assert.deepEqual(await dumpAll(site), before)
  })
})
