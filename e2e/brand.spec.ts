import { expect, test } from '@playwright/test'
import { startServer } from './server.ts'
import { expectAccessible } from './soundness.ts'

const user = { name: 'Grace', email: 'grace@example.com', password: 'a nanosecond of wire' }

test('pages are readable with a bright and with a dark brand colour', async ({ page }) => {
  test.slow()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const color of ['#ffcc00', '#0055ff']) {
    const server = await startServer({ THROTTLE: 'off', SITE_NAME: 'Acme', BRAND_COLOR: color })
    await page.request.post(`${server.url}/users`, { data: { ...user, confirmPassword: user.password } })
    for (const path of ['/', '/login', '/account', '/account/tokens']) {
      if (path === '/account')
        await page.request.post(`${server.url}/login`, {
          data: { username: user.email, password: user.password },
        })
      await page.goto(server.url + path)
      await expect(page).toHaveTitle(/ – Acme$/)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page, `at ${path} with ${color}, ${colorScheme}`, ['color-contrast'])
      }
    }
    await server.stop()
  }
})

test('the button has the brand colour in the light theme', async ({ page }) => {
  const server = await startServer({ BRAND_COLOR: '#0055ff' })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${server.url}/login`)
  const button = page.getByRole('button', { name: 'Sign in' })
  await expect(button).toHaveCSS('background-color', 'rgb(0, 85, 255)')
  await server.stop()
})
