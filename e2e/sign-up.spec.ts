import { signUp } from './forms.ts'
import { expect, test } from './site.ts'

const newUser = {
  name: 'Ada Lovelace',
  email: 'ada.lovelace@example.com',
  password: 'analytical engine 1843',
  confirmation: 'analytical engine 1843',
}

test('sign-up shows every error with a link to its field, keeps the address but not the passwords, and then signs in', async ({
  page,
}) => {
  await page.goto('/signup')
  await signUp(page, { name: '', email: 'ada@', password: 'short', confirmation: 'shorter' })

  await expect(page).toHaveTitle('Error: Create an account – koa-authenticators')
  const summary = page.getByRole('alert')
  await expect(summary).toBeFocused()
  await expect(summary.getByRole('heading')).toHaveText('There is a problem')
  const links = summary.getByRole('link')
  await expect(links).toHaveCount(4)

  const fields = ['Name', 'E-mail address', 'Password', 'Repeat password']
  for (const [index, label] of fields.entries()) {
    const field = page.getByLabel(label, { exact: true })
    const link = links.nth(index)
    await link.click()
    await expect(field).toBeFocused()
    await expect(field).toHaveAttribute('aria-invalid', 'true')
    await expect(field).toHaveAccessibleDescription(new RegExp(`Error: ${await link.textContent()}`))
  }

  await expect(page.getByLabel('E-mail address')).toHaveValue('ada@')
  await expect(page.getByLabel('Password', { exact: true })).toBeEmpty()
  await expect(page.getByLabel('Repeat password', { exact: true })).toBeEmpty()

  await signUp(page, newUser)
  await expect(page).toHaveURL('/account')
  await expect(page).toHaveTitle('Profile – koa-authenticators')
  await expect(page.getByRole('banner')).toContainText('Ada Lovelace')
  await expect(page.getByRole('main')).toContainText('ada.lovelace@example.com')
  await expect(page.locator('body')).toHaveAttribute('data-user', 'signed-in')
})
