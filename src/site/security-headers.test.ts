import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startSite } from '../testing/site.ts'

describe('HSTS', () => {
  test('can be limited to the host of the site, or turned off', async (t) => {
    const tls = { PUBLIC_URL: 'https://example.com', TRUST_PROXY: '1' }
    const hstsOf = async (environment: Record<string, string>) => {
      const site = await startSite(t, { ...tls, ...environment })
      const { headers } = await site.visitor().get('/', { 'x-forwarded-proto': 'https' })
      return headers['strict-transport-security']
    }
    assert.equal(await hstsOf({}), 'max-age=63072000; includeSubDomains')
    assert.equal(await hstsOf({ HSTS: 'host' }), 'max-age=63072000')
    assert.equal(await hstsOf({ HSTS: 'off' }), undefined)
  })
})
