import { expect, test } from './site.ts'
import { expectAccessible } from './soundness.ts'

test.use({ variables: { THROTTLE: 'off', SITE_NAME: 'Acme', BRAND_COLOR: '#ffcc00' } })

test('pages with a bright brand colour are readable', async ({ page, account }) => {
  for (const path of ['/', '/account', '/styleguide']) {
    if (path === '/account') await account.signIn(page)
    await page.goto(path)
    await expect(page).toHaveTitle(/ – Acme$/)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page, `at ${path}, ${colorScheme}`, ['color-contrast'])
    }
  }
})
