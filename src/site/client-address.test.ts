import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, registration } from '../testing/people.ts'
import { type Site, startSite } from '../testing/site.ts'
import { trustedProxies } from './client-address.ts'

describe('the address of a client', () => {
  test('D8 is the peer of the connection if no proxy is trusted, regardless of X-Forwarded-For', async (t) => {
    const site = await startSite(t)
    for (const claimed of ['192.0.2.1', '192.0.2.1, 192.0.2.2', 'x', ''])
      assert.equal(await addressOf(site, claimed), '127.0.0.1')
  })

  test('D8 is the rightmost address in X-Forwarded-For that is not a trusted proxy', async (t) => {
    const one = await startSite(t, { TRUST_PROXY: '1' })
    assert.equal(await addressOf(one, '192.0.2.1'), '192.0.2.1')
    assert.equal(await addressOf(one, '203.0.113.9, 192.0.2.1'), '192.0.2.1')
    assert.equal(await addressOf(one, '192.0.2.5:4711'), '192.0.2.5')
    assert.equal(await addressOf(one, '[2001:db8::1]:4711'), '2001:db8::1')
    const two = await startSite(t, { TRUST_PROXY: '2' })
    assert.equal(await addressOf(two, '203.0.113.9, 192.0.2.1, 10.0.0.1'), '192.0.2.1')
    assert.equal(await addressOf(two, '203.0.113.9,192.0.2.1,, , 10.0.0.1 ,'), '192.0.2.1', 'empty elements')
    assert.equal(await addressOf(two, '192.0.2.1'), '192.0.2.1', 'fewer addresses than proxies')
    const named = await startSite(t, { TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8' })
    assert.equal(await addressOf(named, '203.0.113.9, 192.0.2.1, 10.0.0.1'), '192.0.2.1')
    assert.equal(await addressOf(named, '2001:db8::1'), '2001:db8::1')
    assert.equal(await addressOf(named, '::ffff:192.0.2.7'), '192.0.2.7')
  })

  test('is the address of the proxy if X-Forwarded-For contains no valid address', async (t) => {
    const site = await startSite(t, { TRUST_PROXY: '1' })
    for (const claimed of ['x', '"><script>', '', ',', 'unknown'])
      assert.equal(await addressOf(site, claimed), '127.0.0.1', claimed)
  })
})

describe('trustedProxies', () => {
  test('D8 trusts a number of hops', () => {
    const isTrusted = trustedProxies(2)
    assert.deepEqual(
      [0, 1, 2].map((hop) => isTrusted('192.0.2.1', hop)),
      [true, true, false],
    )
    assert.ok(!trustedProxies(0)('127.0.0.1', 0))
  })

  test('D8 trusts the addresses and networks of proxies, including IPv4-mapped addresses and addresses with a port', () => {
    const isTrusted = trustedProxies(['10.0.0.0/8', '192.168.1.1', 'fd00::/8'])
    for (const proxy of [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '10.1.2.3:4711',
      '192.168.1.1',
      'fd00::1',
      '[fd00::1]:80',
    ])
      assert.ok(isTrusted(proxy, 0), proxy)
    for (const other of [
      '11.1.2.3',
      '192.168.1.2',
      '::ffff:192.168.1.2',
      '::1',
      '',
      'unknown',
      '10.1.2.3, 10.1.2.4',
    ])
      assert.ok(!isTrusted(other, 0), other)
  })
})

describe('Basic', () => {
  test('A7 S71 is rejected with 403 in production over plain HTTP', async (t) => {
    const site = await startSite(t, { ...production, PUBLIC_URL: 'https://example.com', TRUST_PROXY: '1' })
    await addPerson(site)
    const status = async (headers: Record<string, string>) =>
      (await site.visitor().post('/login?as=user', { ...basic({ email: 'ada@example.com' }), ...headers }))
        .status
    for (const ciphered of ['https', 'http, https', 'http,\t HTTPS '])
      assert.equal(await status({ 'x-forwarded-proto': ciphered }), 200, ciphered)
    for (const plain of ['http', '', 'https, http', 'https,', 'xhttps', 'https x'])
      assert.equal(await status({ 'x-forwarded-proto': plain }), 403, plain)
    const refused = await site.visitor().post('/login', basic({ email: 'ada@example.com' }))
    assert.match(String(refused.record.detail), /over TLS only/)
  })

  test('A7 is rejected with 403 if only an untrusted proxy claims TLS in X-Forwarded-Proto', async (t) => {
    const site = await startSite(t, { ...production, PUBLIC_URL: 'https://example.com' })
    const headers = { ...basic({ email: 'ada@example.com' }), 'x-forwarded-proto': 'https' }
    assert.equal((await site.visitor().post('/login', headers)).status, 403)
  })
})

const production = {
  NODE_ENV: 'production',
  BCRYPT_COST: '10',
  THROTTLE: 'on',
  JWT_SECRET: 'a secret for a test of thirty-two bytes or more',
}

async function addPerson(site: Site): Promise<void> {
  const { status } = await site
    .visitor()
    .json('/users', registration('Ada'), { 'x-forwarded-proto': 'https' })
  assert.equal(status, 201)
}

async function addressOf(site: Site, forwarded: string): Promise<unknown> {
  await site.visitor().get('/nowhere', { 'x-forwarded-for': forwarded })
  return JSON.parse(site.log.at(-1) ?? '{}')['client.address']
}
