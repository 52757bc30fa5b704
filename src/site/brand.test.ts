import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JWTKeys } from '#auth/jwt'
import { bearer, registration, signUp, takeJWT } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { SignedToken } from '../users/signed-token.ts'

describe('SITE_NAME', () => {
  it('is in the title and in the header of pages, including error pages, and in the manifest', async (t) => {
    const site = await startSite(t, { SITE_NAME: 'Ada & Co' })
    for (const path of ['/', '/login', '/signup', '/nowhere']) {
      const { text } = await site.visitor().page(path)
      assert.match(text, / &ndash; Ada &amp; Co<\/title>/, path)
      assert.match(text, /<span>Ada &amp; Co<\/span>/, path)
    }
    const manifest = await site.visitor().get('/manifest.webmanifest')
    assert.equal(JSON.parse(manifest.text).name, 'Ada & Co')
  })

  it('B7 is rejected as a password at sign-up, also with a hyphen and a digit', async (t) => {
    const site = await startSite(t, { SITE_NAME: 'Analytical Engines' })
    for (const password of ['Analytical Engines', 'analytical-engines1']) {
      const body = registration('Ada', { password, confirmPassword: password })
      const { status, text } = await site.visitor().json('/users', body)
      assert.equal(status, 400)
      assert.match(text, /the name of this site/)
    }
  })
})

describe('the home page', () => {
  it('demonstrates the package only on a site without a name', async (t) => {
    const demonstration = /<h1>Authentication for Koa/
    const named = await startSite(t, { SITE_NAME: 'Acme' })
    assert.doesNotMatch((await named.visitor().page('/')).text, demonstration)
    assert.match((await (await startSite(t)).visitor().page('/')).text, demonstration)
  })
})

describe('BRAND_COLOR', () => {
  it('is served as a style sheet, linked after the one of the site, with a variant for dark pages', async (t) => {
    const site = await startSite(t, { BRAND_COLOR: '#0055ff' })
    const { text } = await site.visitor().page('/login')
    assert.match(
      text,
      /"\/style\.css\?v=[^"]+">\s*(<link [^>]*>\s*)*<link rel="stylesheet" href="\/brand\.css\?/,
    )
    const sheet = await site.visitor().get('/brand.css')
    assert.equal(sheet.headers['content-type'], 'text/css; charset=utf-8')
    assert.match(sheet.text, /--accent: light-dark\(#0055ff, #[\da-f]{6}\);/)
    const etag = String(sheet.headers.etag)
    assert.equal((await site.visitor().get('/brand.css', { 'if-none-match': etag })).status, 304)
  })

  it('adds nothing if it is not set', async (t) => {
    const site = await startSite(t)
    assert.doesNotMatch((await site.visitor().page('/login')).text, /brand\.css/)
    assert.equal((await site.visitor().get('/brand.css')).status, 404)
  })
})

describe('SUPPORT_URL', () => {
  it('is a link on the sign-in page', async (t) => {
    const site = await startSite(t, { SUPPORT_URL: 'mailto:help@example.com' })
    assert.match((await site.visitor().page('/login')).text, /<a href="mailto:help@example\.com">/)
  })
})

describe('JWT_ISSUER', () => {
  it('is the issuer and the audience of JWTs, and makes JWTs of another issuer invalid', async (t) => {
    const site = await startSite(t, { JWT_ISSUER: 'https://id.example.com' })
    const ada = await signUp(site)
    const jwt = await takeJWT(site, ada)
    const [, claims = ''] = jwt.split('.')
    const { iss, aud } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    assert.deepEqual([iss, aud], ['https://id.example.com', 'https://id.example.com'])
    assert.equal((await site.visitor().get('/me', bearer(jwt))).status, 200)

    const otherKeys = new JWTKeys({ ...site.config.jwtKeys, issuer: 'other', audience: 'other' })
    const otherJwt = await otherKeys.sign(new SignedToken(ada.id))
    assert.equal((await site.visitor().get('/me', bearer(otherJwt))).status, 401)
  })
})
