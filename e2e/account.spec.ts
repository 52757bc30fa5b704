import { changePassword, confirm, createToken, signIn } from './forms.ts'
import { expect, test } from './site.ts'

test('the account page changes the name, and shows the notice once', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await page.getByLabel('Name', { exact: true }).fill(' ')
  await page.getByRole('button', { name: 'Save name' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await page.getByLabel('Name', { exact: true }).fill('Amazing Grace')
  await page.getByRole('button', { name: 'Save name' }).click()

  await expect(page.getByText('Your name has been changed.')).toBeVisible()
  await expect(page.getByRole('banner')).toContainText('Amazing Grace')
  await page.reload()
  await expect(page.getByText('Your name has been changed.')).toHaveCount(0)
})

test('E11 the sessions page ends a session on another device', async ({ page, browser, account }) => {
  const elsewhere = await browser.newPage()
  await account.signIn(elsewhere)
  await account.signIn(page)
  await page.goto('/account/sessions')
  const sessions = page.getByRole('listitem').filter({ hasText: 'Last active' })
  await expect(sessions).toHaveCount(2)
  await expect(sessions.first()).toContainText('This device')
  await confirm(page, { of: 'IP address 127.0.0.1', button: 'Sign out' })

  await expect(page.getByText('You are not signed in anywhere else.')).toBeVisible()
  await elsewhere.goto('/account')
  await expect(elsewhere).toHaveURL('/login?next=%2Faccount')
  await page.goto('/account')
  await expect(page).toHaveURL('/account')
  await elsewhere.close()
})

test('a token is shown once, works for the API, and is rejected after it is revoked', async ({
  page,
  request,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account/tokens')
  await createToken(page, 'Backup script')
  const value = await page.getByLabel('Token', { exact: true }).inputValue()
  const me = () => request.get('/me', { headers: { Authorization: `Bearer ${value}` } })
  expect((await me()).status()).toBe(200)

  await page.reload()
  await expect(page.getByLabel('Token', { exact: true })).toHaveCount(0)
  expect(await page.content()).not.toContain(value)
  const question = page.locator('summary', { hasText: 'Backup script' })
  // The last characters of the value distinguish tokens of the same name.
  await expect(question).toHaveAccessibleDescription(
    new RegExp(`Ends in ${value.slice(-4)} Created just now`),
  )
  await question.click()
  await page.getByRole('link', { name: 'Cancel' }).filter({ visible: true }).click()
  await expect(question).toBeFocused()
  await confirm(page, { of: 'Backup script', button: 'Revoke' })
  await expect(page.getByText('No API tokens')).toBeVisible()
  expect((await me()).status()).toBe(401)
})

test('a password change requires the current password and ends other sessions, and then only the new password signs in', async ({
  page,
  browser,
  account,
}) => {
  const password = 'a microsecond of wire'
  const elsewhere = await browser.newPage()
  await account.signIn(elsewhere)
  await account.signIn(page)
  // Password managers open this path.
  await page.goto('/.well-known/change-password')
  await expect(page).toHaveURL('/account/password')
  await changePassword(page, { current: 'not the password', password, confirmation: password })
  await expect(page.getByRole('alert').getByRole('link')).toHaveCount(1)
  await expect(page.getByLabel('New password', { exact: true })).toBeEmpty()
  await changePassword(page, { current: account.password, password, confirmation: password })

  await expect(page).toHaveURL('/account')
  await expect(page.getByText(/^Your password has been changed\./)).toBeVisible()
  await elsewhere.goto('/account')
  await expect(elsewhere).toHaveURL('/login?next=%2Faccount')
  await signIn(elsewhere, account)
  await expect(elsewhere.getByRole('alert')).toBeVisible()
  await signIn(elsewhere, { ...account, password })
  await expect(elsewhere).toHaveURL('/account')
  await elsewhere.close()
})
