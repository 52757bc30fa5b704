import {
  changeEmail,
  changePassword,
  chooseNewPassword,
  closeAccount,
  signIn,
  signOut,
  signOutEverywhereElse,
  signUp,
} from './forms.ts'
import { takeLink, takeMail } from './mails.ts'
import { expect, test } from './site.ts'

test.use({ javaScriptEnabled: false })

test('without script, a user signs up, signs out, signs in and returns to the requested page', async ({
  page,
}) => {
  const password = 'moths in a relay'
  const email = 'without.script@example.com'

  await page.goto('/account?from=a bookmark')
  await expect(page.getByText('Sign in to see that page.')).toBeVisible()
  await page.getByRole('main').getByRole('link', { name: 'Create an account' }).click()

  await signUp(page, { name: 'Grace Hopper', email, password, confirmation: 'moths' })
  await expect(page).toHaveTitle('Error: Create an account – koa-authenticators')
  const summary = page.getByRole('alert')
  await expect(summary).toBeVisible()
  await summary.getByRole('link', { name: 'The passwords did not match.' }).click()
  await expect(page.getByLabel('Repeat password')).toBeFocused()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Grace Hopper')
  await expect(page.getByLabel('Password', { exact: true })).toBeEmpty()

  await signUp(page, { name: 'Grace Hopper', email, password, confirmation: password })
  await expect(page).toHaveURL('/account?from=a%20bookmark')
  await expect(page.getByRole('banner')).toContainText('Grace Hopper')
  await page.getByRole('link', { name: 'koa-authenticators' }).click()
  await expect(page.locator('body')).toHaveAttribute('data-user', 'signed-in')

  await signOut(page)
  await expect(page).toHaveURL('/')
  await expect(page.locator('body')).toHaveAttribute('data-user', 'visitor')
  await page.goBack()
  await expect(page.locator('body')).not.toContainText('Grace Hopper')

  await page.goto('/account?from=a bookmark')
  await signIn(page, { email, password: 'butterflies' })
  await expect(page).toHaveTitle('Error: Sign in – koa-authenticators')
  await expect(page.getByRole('alert')).toContainText('The e-mail address or password is wrong.')
  await expect(page.getByLabel('E-mail address')).toHaveValue(email)
  await signIn(page, { email, password })
  await expect(page).toHaveURL('/account?from=a%20bookmark')
  await expect(page.getByRole('banner')).toContainText('Grace Hopper')
})

test('without script, a user manages and closes the account', async ({ page, context, account }) => {
  await account.signIn(page)
  await context.clearCookies()
  await account.signIn(page)

  await page.goto('/account/sessions')
  await signOutEverywhereElse(page)
  await expect(page.getByText('You are not signed in anywhere else.')).toBeVisible()

  const password = 'a microsecond of wire'
  await page.goto('/account/password')
  await changePassword(page, { current: account.password, password, confirmation: password })
  await expect(page.getByText(/^Your password has been changed\./)).toBeVisible()

  await page.goto('/account/close')
  await closeAccount(page, { password, isConfirmed: true })
  await expect(page).toHaveURL('/account/closed')
})

test('C5 without script, a user who forgot the password sets a new one', async ({
  page,
  server,
  account,
}) => {
  const password = 'a microsecond of wire'
  await takeMail(server, account.email)
  await page.goto('/login')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
  await page.goto(await takeLink(server, account.email))
  await chooseNewPassword(page, { password, confirmation: 'a mile of wire' })
  await expect(page).toHaveTitle('Error: Choose a new password – koa-authenticators')
  await chooseNewPassword(page, { password, confirmation: password })
  await expect(page).toHaveURL('/login')
  await expect(page.getByText('Your password has been changed.')).toBeVisible()
  await signIn(page, { ...account, password })
  await expect(page).toHaveURL('/account')
})

test('R1 Q8 Q10 without script, a user confirms the e-mail address, and changes it', async ({
  page,
  server,
  account,
}) => {
  const email = `new.${account.email}`
  await account.signIn(page)
  await page.goto(await takeLink(server, account.email))
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await expect(page.getByText('Your e-mail address is confirmed.')).toBeVisible()

  await page.goto('/account/email')
  await changeEmail(page, { email, password: account.password })
  await expect(page.getByText(`We have sent a link to ${email}.`)).toBeVisible()
  await page.goto(await takeLink(server, email))
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await expect(page).toHaveURL('/account')
  await expect(page.getByRole('definition').filter({ hasText: email })).toBeVisible()
})

test('without script, a page shows no button that needs script', async ({ page }) => {
  for (const [path, names] of [
    ['/login', ['Sign in']],
    ['/signup', ['Create account']],
    ['/forgot', ['Send link']],
  ] as const) {
    await page.goto(path)
    await expect(page.getByRole('button')).toHaveText([...names])
  }
})
