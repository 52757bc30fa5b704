import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dumpAll } from '../testing/dump.ts'
import { signIn, signUp } from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { others, routes } from '../testing/routes.ts'
import { startSite } from '../testing/site.ts'

describe('the session cookie', () => {
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
