import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Site, startSite } from '../testing/site.ts'

describe('the address of a client', () => {
  test('is whoever is connected, whatever X-Forwarded-For says, where no proxy is declared', async (t) => {
    const site = await startSite(t)
    for (const claimed of ['192.0.2.1', '192.0.2.1, 192.0.2.2', 'x', ''])
      assert.equal(await addressOf(site, claimed), '127.0.0.1')
  })

  test('is the first from the right that none of the declared proxies wrote its own into', async (t) => {
    const one = await startSite(t, { TRUST_PROXY: '1' })
    assert.equal(await addressOf(one, '192.0.2.1'), '192.0.2.1')
    assert.equal(await addressOf(one, '203.0.113.9, 192.0.2.1'), '192.0.2.1')
    const two = await startSite(t, { TRUST_PROXY: '2' })
    assert.equal(await addressOf(two, '203.0.113.9, 192.0.2.1, 10.0.0.1'), '192.0.2.1')
    const named = await startSite(t, { TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8' })
    assert.equal(await addressOf(named, '203.0.113.9, 192.0.2.1, 10.0.0.1'), '192.0.2.1')
    assert.equal(await addressOf(named, '2001:db8::1'), '2001:db8::1')
    assert.equal(await addressOf(named, '::ffff:192.0.2.7'), '192.0.2.7')
  })

  test('is never a text that is no address', async (t) => {
    const site = await startSite(t, { TRUST_PROXY: '1' })
    for (const claimed of ['x', '"><script>', '192.0.2.1:80', '', ',', 'unknown'])
      assert.equal(await addressOf(site, claimed), '127.0.0.1', claimed)
  })
})

async function addressOf(site: Site, forwarded: string): Promise<unknown> {
  await site.visitor().get('/nowhere', { 'x-forwarded-for': forwarded })
  return JSON.parse(site.log.at(-1) ?? '{}').address
}
