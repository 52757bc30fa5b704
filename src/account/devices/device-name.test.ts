import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { deviceName } from './device-name.ts'

const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

describe('deviceName', () => {
  test('names the browser, and the operating system or device', () => {
    const devices = {
      [`Mozilla/5.0 (X11; Linux x86_64) ${webKit} Chrome/140.0.0.0 Safari/537.36`]: 'Chrome on Linux',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0':
        'Firefox on Windows',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15':
        'Safari on macOS',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1':
        'Safari on iPhone',
      [`Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/141.0.0.0 Mobile Safari/537.36`]:
        'Chrome on Android',
      [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`]:
        'Microsoft Edge on Windows',
    }
    for (const [userAgent, name] of Object.entries(devices)) assert.equal(deviceName(userAgent), name)
  })

  test('names a program by its product, and returns "An unknown device" if it recognizes nothing', () => {
    assert.equal(deviceName('curl/8.5.0'), 'A program (curl)')
    assert.equal(deviceName('python-requests/2.32.3'), 'A program (python-requests)')
    for (const userAgent of ['', '-', 'Mozilla/5.0', '<b>me</b>', `${'a'.repeat(40)}/1`, '(((((((('])
      assert.equal(deviceName(userAgent), 'An unknown device', userAgent)
  })

  test('accepts any input, and returns a short string', () => {
    const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit, maxLength: 255 }), fc.string({ maxLength: 255 })),
        (userAgent) => {
          assert.match(deviceName(userAgent), /^[\w .()-]{1,60}$/)
        },
      ),
    )
  })
})
