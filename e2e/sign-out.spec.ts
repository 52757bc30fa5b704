import { expect, test } from './site.ts'

test('E5 sign-out ends the session on the server, not only in the browser', async ({
  page,
  context,
  account,
}) => {
  await account.signIn(page)
  const stolen = await context.cookies()
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()

  await expect(page).toHaveURL('/')
  await expect(page.getByText('Not signed in')).toBeVisible()
  expect((await context.cookies()).filter(({ name }) => name === 'session')).toEqual([])

  await context.addCookies(stolen)
  await page.goto('/account')
  await expect(page).toHaveURL('/login?next=%2Faccount')
})

test('L5 the back button shows no private page after sign-out', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('Not signed in')).toBeVisible()

  await page.goBack()
  await expect(page).toHaveURL('/login?next=%2Faccount')
  await expect(page.locator('body')).not.toContainText(account.name)
  await expect(page.locator('body')).not.toContainText(account.email)
})
