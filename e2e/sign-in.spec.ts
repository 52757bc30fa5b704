import { signIn } from './forms.ts'
import { expect, test } from './site.ts'

const wrong = 'The e-mail address or password is wrong.'

test('a wrong password shows the form with the address again, and the right one signs in', async ({
  page,
  account,
}) => {
  await page.goto('/login')
  await expect(page.getByLabel('E-mail address')).toBeFocused()
  await signIn(page, { ...account, password: 'a microsecond of wire' })

  await expect(page).toHaveTitle('Error: Sign in – koa-authenticators')
  const summary = page.getByRole('alert')
  await expect(summary).toBeFocused()
  await expect(summary).toContainText(wrong)
  const address = page.getByLabel('E-mail address')
  await expect(address).toHaveValue(account.email)
  await expect(address).toHaveAccessibleDescription(`Error: ${wrong}`)
  await expect(page.getByLabel('Password', { exact: true })).toBeEmpty()

  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await expect(page).toHaveURL('/account')
  await expect(page.getByRole('banner')).toContainText(account.name)
})

const elsewhere = ['https://example.org/account', '//example.org/account', '/\\example.org/account']

test('H2 sign-in does not redirect to another site', async ({ page, context, account }) => {
  for (const next of elsewhere) {
    await page.goto(`/login?next=${encodeURIComponent(next)}`)
    await signIn(page, account)
    await expect(page, next).toHaveURL('/account')
    await context.clearCookies()
  }
})

test('H2 sign-in with a modified form does not redirect to another site', async ({ page, account }) => {
  await page.goto('/login?next=/account')
  await page.locator('input[name="next"]').evaluate((input) => {
    input.setAttribute('value', '//example.org/account')
  })
  await signIn(page, account)
  await expect(page).toHaveURL('/account')
})
