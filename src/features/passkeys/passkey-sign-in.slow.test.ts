import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addPasskey, passkeySite, signInWithPasskey } from '../../testing/passkey-visitor.ts'

describe('POST /login/passkey', () => {
  test('is limited to 100 sign-ins and new passkeys of an account in 15 minutes', async (t) => {
    const { site, visitor } = await passkeySite(t, { THROTTLE: 'on' })
    const authenticator = await addPasskey(visitor)
    const browser = site.visitor()
    for (let i = 0; i < 99; i += 1) {
      browser.cookies.delete('session')
      assert.equal((await signInWithPasskey(browser, authenticator)).status, 303)
    }
    const { status, text } = await signInWithPasskey(site.visitor(), authenticator)
    assert.equal(status, 429, 'adding the passkey counts too')
    assert.match(text, /Too many attempts/)
  })
})
