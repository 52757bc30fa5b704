import { signIn, signUp } from './forms.ts'
import { expect, test } from './site.ts'

test('while the database is unavailable, the home page shows that the user is unknown, and the user stays signed in', async ({
  page,
  account,
  outage,
}) => {
  await account.signIn(page)
  outage.begin()

  await page.goto('/')
  await expect(page.getByRole('status').first()).toContainText(
    'We cannot tell who is signed in at the moment.',
  )
  await expect(page.getByRole('banner').getByRole('navigation')).toHaveCount(0)
  await expect(page.locator('body')).not.toContainText(account.name)

  const response = await page.goto('/account')
  expect(response?.status()).toBe(503)
  expect(response?.headers()['retry-after']).toBe('5')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Temporarily unavailable')
  await expect(page.locator('body')).not.toContainText(/sqlite|select|table|stack/i)

  outage.end()
  await page.goto('/account')
  await expect(page.getByRole('banner')).toContainText(account.name)
})

test('a form gets 503 while the database is unavailable, and works afterwards', async ({
  page,
  account,
  outage,
}) => {
  const newUser = { name: 'Ada', email: 'afterwards@example.com', password: account.password }
  await page.goto('/signup')
  outage.begin()
  await signUp(page, { ...newUser, confirmation: newUser.password })
  await expect(page).toHaveTitle('Error: Temporarily unavailable – koa-authenticators')
  await page.goto('/login')
  await signIn(page, account)
  await expect(page).toHaveTitle('Error: Temporarily unavailable – koa-authenticators')

  outage.end()
  await page.goto('/login')
  await signIn(page, account)
  await expect(page).toHaveURL('/account')
})

test('sign-out fails visibly while the database is unavailable', async ({ page, account, outage }) => {
  await account.signIn(page)
  await page.goto('/account')
  outage.begin()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page).toHaveTitle('Error: Temporarily unavailable – koa-authenticators')

  outage.end()
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('Not signed in')).toBeVisible()
})
