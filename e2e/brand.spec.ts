import type { Page } from '@playwright/test'
import { type Account, expect, test } from './site.ts'
import { expectAccessible } from './soundness.ts'

test.describe('with a bright brand colour', () => {
  test.use({ variables: { THROTTLE: 'off', SITE_NAME: 'Acme', BRAND_COLOR: '#ffcc00' } })

  test('pages are readable', ({ page, account }) => expectReadable(page, account))
})

test.describe('with a dark brand colour', () => {
  test.use({ variables: { THROTTLE: 'off', SITE_NAME: 'Acme', BRAND_COLOR: '#0055ff' } })

  test('pages are readable, and the button has the colour in the light theme', async ({ page, account }) => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto('/login')
    const button = page.getByRole('button', { name: 'Sign in' })
    await expect(button).toHaveCSS('background-color', 'rgb(0, 85, 255)')
    await expectReadable(page, account)
  })
})

async function expectReadable(page: Page, account: Account): Promise<void> {
  for (const path of ['/', '/account', '/styleguide']) {
    if (path === '/account') await account.signIn(page)
    await page.goto(path)
    await expect(page).toHaveTitle(/ – Acme$/)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page, `at ${path}, ${colorScheme}`, ['color-contrast'])
    }
  }
}
