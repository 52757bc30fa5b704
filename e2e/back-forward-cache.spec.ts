import { signOut } from './forms.ts'
import { expect, test } from './site.ts'

// One worker, because starting a browser and a server takes longer than these tests.
test.describe.configure({ mode: 'default' })

test('the back button restores a public page from the back/forward cache', async ({ page }) => {
  await page.goto('/signup')
  await page.getByLabel('Name', { exact: true }).fill('Ada')
  await page.evaluate('globalThis.isStillAlive = true')
  await page.goto('/login')
  await page.evaluate('history.back()')
  await expect(page).toHaveURL('/signup')
  expect(await page.evaluate('globalThis.isStillAlive')).toBe(true)
})

test('L5 the account page is not in the back/forward cache after sign-out', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await signOut(page)
  await expect(page.locator('body')).toHaveAttribute('data-user', 'visitor')

  await page.evaluate('history.back()')
  await expect(page).toHaveURL('/login?next=%2Faccount')
  await expect(page.locator('body')).not.toContainText(account.name)
  await expect(page.locator('body')).not.toContainText(account.email)
})
