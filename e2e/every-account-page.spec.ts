import { AuthenticatorApp, ageSessions, turnOnApp, useRecoveryCodes } from './authenticator-app.ts'
import { changePassword, closeAccount, enterCode, signOutEverywhereElse, signUp } from './forms.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

test('the account page is accessible, with an error and with a notice', async ({ page, account }) => {
  await account.signIn(page)
  await page.goto('/account')
  await expectSound(page, 'Profile')
  await page.getByLabel('Name', { exact: true }).fill('')
  await page.getByRole('button', { name: 'Save name' }).click()
  await expectSound(page, 'Error: Profile')
  await page.getByLabel('Name', { exact: true }).fill('Amazing Grace')
  await page.getByRole('button', { name: 'Save name' }).click()
  await expect(page.getByText('Your name has been changed.')).toBeVisible()
  await expectSound(page, 'Profile')
})

test('the account page is accessible with the longest name and address', async ({ page }) => {
  const email = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.eu`
  const password = 'a nanosecond of wire'
  await page.goto('/signup')
  await signUp(page, { name: 'N'.repeat(100), email, password, confirmation: password })
  await expectSound(page, 'Profile')
})

test('the sessions page is accessible with one session, with two, and with a notice', async ({
  page,
  context,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account/sessions')
  await expectSound(page, 'Sessions')
  await context.clearCookies()
  await account.signIn(page)
  await page.goto('/account/sessions')
  await page.locator('summary').last().click()
  await expectSound(page, 'Sessions')
  await signOutEverywhereElse(page)
  await expect(page.getByText('You have been signed out everywhere else.')).toBeVisible()
  await expectSound(page, 'Sessions')
})

test('the password page, with and without errors, and the activity page are accessible', async ({
  page,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account/password')
  await expectSound(page, 'Change your password')
  await changePassword(page, { current: 'not the password', password: 'short', confirmation: 'shorter' })
  await expectSound(page, 'Error: Change your password')
  await page.goto('/account/activity')
  await expectSound(page, 'Activity')
})

test('the security pages are accessible before, during and after the set-up of an app, and with few recovery codes', async ({
  page,
  server,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account/security')
  await expectSound(page, 'Security')
  await page.goto('/account/security/totp')
  await expectSound(page, 'Get an authenticator app')
  await page.getByRole('button', { name: 'I have an app' }).click()
  await expectSound(page, 'Set up an authenticator app')
  await page.locator('summary', { hasText: 'scan the code?' }).click()
  await enterCode(page, '000000')
  await page.locator('summary', { hasText: 'scan the code?' }).click()
  await expectSound(page, 'Error: Set up an authenticator app')
  await enterCode(
    page,
    new AuthenticatorApp(await page.getByLabel('Key', { exact: true }).inputValue(), account).nextCode(),
  )
  await expectSound(page, 'Recovery codes')
  useRecoveryCodes(server, account, 8)
  await page.goto('/account/security')
  await page.locator('summary').last().click()
  await expectSound(page, 'Security')
})

test('the confirmation page is accessible, also with errors', async ({ page, account }) => {
  await turnOnApp(page, account)
  await page.goto('/confirm?next=/account/security')
  await expectSound(page, 'Confirm it is you')
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await expectSound(page, 'Error: Confirm it is you')
  await enterCode(page, '000000')
  await expectSound(page, 'Error: Confirm it is you')
})

test('the pages to close the account are accessible, also with an error in every field', async ({
  page,
  server,
  account,
}) => {
  await account.signIn(page)
  ageSessions(server)
  await page.goto('/account/close')
  await expectSound(page, 'Close your account')
  await closeAccount(page, { password: 'not the password', isConfirmed: false })
  await expectSound(page, 'Error: Close your account')
  await closeAccount(page, { password: account.password, isConfirmed: true })
  await expectSound(page, 'Your account is closed')
})
