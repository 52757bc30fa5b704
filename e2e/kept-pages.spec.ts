import { expect, test } from './site.ts'

// A browser and a server of their own start for these few: once is enough.
test.describe.configure({ mode: 'default' })

test('a page that the browser keeps alive for its back button comes back as it was', async ({ page }) => {
  await page.goto('/signup')
  await page.getByLabel('Name', { exact: true }).fill('Ada')
  await page.evaluate('globalThis.isStillAlive = true')
  await page.goto('/login')
  await page.evaluate('history.back()')
  await expect(page).toHaveURL('/signup')
  expect(await page.evaluate('globalThis.isStillAlive')).toBe(true)
})

test('L5 the account page is not kept alive past signing out', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('Nobody yet')).toBeVisible()

  await page.evaluate('history.back()')
  await expect(page).toHaveURL('/login?next=%2Faccount')
  await expect(page.locator('body')).not.toContainText(account.name)
  await expect(page.locator('body')).not.toContainText(account.email)
})
