import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from '../../config/root.ts'
import { startSite } from '../../testing/site.ts'

describe('/styleguide', () => {
  it('shows every component of the style sheets', async (t) => {
    const { text } = await (await startSite(t)).visitor().page('/styleguide')
    const shown = new Set(
      [...text.matchAll(/class="([^"]*)"/g)].flatMap(([, names = '']) => names.split(' ')),
    )
    const sheets = ['style.css', 'account.css'].map((name) =>
      readFileSync(join(root, 'public', name), 'utf8'),
    )
    const components = sheets
      .flatMap((sheet) => sheet.split(/^(?=@)/m))
      .filter((part) => part.startsWith('@layer components {'))
    assert.equal(components.length, 2)
    // The header has the menu only for a user, and a script adds the button `copy`.
    for (const name of ['menu', 'copy']) shown.add(name)
    const names = components.join('').matchAll(/\.([a-z][\w-]*)(?=[^{};]*\{)/g)
    const missing = [...names].map(([, name = '']) => name).filter((name) => !shown.has(name))
    assert.deepEqual(missing, [])
  })

  it('does not exist in production', async (t) => {
    const site = await startSite(t, {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://example.com',
      TRUST_PROXY: '1',
      THROTTLE: 'on',
      BCRYPT_COST: '10',
      JWT_SECRET: 'a secret of more than thirty-two bytes',
      SITE_NAME: 'Acme',
      JWT_ISSUER: 'https://example.com',
    })
    assert.equal((await site.visitor().page('/styleguide', { 'x-forwarded-proto': 'https' })).status, 404)
  })
})
