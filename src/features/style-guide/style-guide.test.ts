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
    const names = components.join('').matchAll(/\.([a-z][\w-]*)(?=[^{};]*\{)/g)
    // Scripts add this button.
    const missing = [...names]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'copy' && !shown.has(name))
    assert.deepEqual(missing, [])
  })

  it('does not exist in production', async (t) => {
    const production = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://example.com',
      TRUST_PROXY: '1',
      THROTTLE: 'on',
    }
    const site = await startSite(t, production)
    assert.equal((await site.visitor().page('/styleguide', { 'x-forwarded-proto': 'https' })).status, 404)
  })
})
