import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { siteWithAda } from '../../testing/site-with-ada.ts'

describe('POST /account/theme', () => {
  it('keeps the theme in a cookie, and removes the cookie for the theme of the device', async (t) => {
    const { ada } = await siteWithAda(t)
    const schemeOf = async () =>
      /<meta name="color-scheme" content="([^"]*)">/.exec((await ada.page('/account')).text)?.[1]
    assert.equal(await schemeOf(), 'light dark')
    const dark = await ada.form('/account/theme', { theme: 'dark' })
    assert.ok(dark.cookies.includes('theme=dark; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax'))
    assert.equal(await schemeOf(), 'dark')
    assert.match((await ada.page('/nowhere')).text, /<meta name="theme-color" content="#0e1513">/)
    const system = await ada.form('/account/theme', { theme: 'system' })
    assert.ok(system.cookies.includes('theme=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'))
    assert.equal(await schemeOf(), 'light dark')
  })

  it('rejects another theme, and pages ignore another value of the cookie', async (t) => {
    const { site, ada } = await siteWithAda(t)
    assert.equal((await ada.json('/account/theme', { theme: '"><script>' })).status, 400)
    const { text } = await site.visitor().page('/login', { cookie: 'theme=x' })
    assert.match(text, /content="light dark"/)
  })
})
