import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { networkOf } from './network.ts'

describe('networkOf', () => {
  test('D4 returns the IPv4 address of an IPv4-mapped or NAT64 address, in any notation', () => {
    for (const address of [
      '1.2.3.4',
      '::ffff:1.2.3.4',
      '::FFFF:102:304',
      '::ffff:0102:0304',
      '0:0:0:0:0:ffff:1.2.3.4',
      '0000:0000:0000:0000:0000:ffff:0102:0304',
      '::ffff:1.2.3.4%eth0',
      '64:ff9b::1.2.3.4',
      '0064:FF9B:0::102:304',
    ])
      assert.equal(networkOf(address), '1.2.3.4', address)
    assert.equal(networkOf('::ffff:255.0.0.1'), '255.0.0.1')
    assert.equal(networkOf('::ffff:0:0'), '0.0.0.0')
  })

  test('returns the /64 of any other IPv6 address, in any notation', () => {
    for (const address of ['2001:db8:0:1::1', '2001:0DB8::1:0:0:0:2', '2001:db8:0:1:ffff:ffff:102:304'])
      assert.equal(networkOf(address), '2001:db8:0:1::/64', address)
    for (const address of ['::1', '::1.2.3.4', '::']) assert.equal(networkOf(address), '0:0:0:0::/64')
    assert.equal(networkOf('64:ff9b:1::102:304'), '64:ff9b:1:0::/64', 'a local NAT64 prefix')
    assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  })

  test('returns the text of a command, which has no address, unchanged', () => {
    assert.equal(networkOf(''), '')
  })
})
