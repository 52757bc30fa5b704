import { chooseNewPassword, signIn, signUp } from './forms.ts'
import { takeLink, takeMail } from './mails.ts'
import { watchReferrers } from './referrers.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

const newPassword = 'a microsecond of wire'

test('R1 a user signs up, opens the link of the mail and confirms the address', async ({ page, server }) => {
  const [email, password] = ['verify@example.com', 'moths in a relay']
  await page.goto('/signup')
  await signUp(page, { name: 'Grace Hopper', email, password, confirmation: password })
  await expect(page.getByText('Your e-mail address is not confirmed.')).toBeVisible()
  const link = await takeLink(server, email)
  await page.context().clearCookies()

  await page.goto(link)
  await page.getByRole('link', { name: 'Sign in and continue' }).click()
  await signIn(page, { email, password })
  await expect(page.getByText(`Is ${email} your address?`)).toBeVisible()
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await expect(page).toHaveURL('/account')
  await expect(page.getByText('Your e-mail address is confirmed.')).toBeVisible()
  await expect(page.getByText('Your e-mail address is not confirmed.')).toHaveCount(0)
})

test('Q4 a user who forgot the password sets a new one, which ends the other sessions', async ({
  page,
  server,
  account,
  browser,
}) => {
  await takeMail(server, account.email)
  const other = await browser.newContext({ baseURL: server.url })
  const otherPage = await other.newPage()
  await account.signIn(otherPage)

  await page.goto('/login')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail address').fill(account.email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
  await expect(page.getByText('Its mails are files in')).toBeVisible()
  await page.goto(await takeLink(server, account.email))
  await chooseNewPassword(page, { password: newPassword, confirmation: newPassword })
  await expect(page).toHaveURL('/login')
  await signIn(page, { email: account.email, password: newPassword })
  await expect(page).toHaveURL('/account')

  await otherPage.goto('/account')
  await expect(otherPage).toHaveURL('/login?next=%2Faccount')
  await other.close()
})

test('Q2 no request has the token of a verification link in the Referer', async ({
  page,
  server,
  account,
}) => {
  const link = await takeLink(server, account.email)
  const token = new URL(link).searchParams.get('token') ?? 'no token'
  const expectNoTokenInReferrers = watchReferrers(page, token)
  await account.signIn(page)
  await page.goto(link)
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await expect(page).toHaveURL('/account')
  await expectNoTokenInReferrers()
})

test('the pages for a forgotten password are accessible, also with an error', async ({ page }) => {
  await page.goto('/forgot')
  await expectSound(page, 'Forgot your password?')
  await page.getByRole('button', { name: 'Send link' }).click()
  await expect(page.getByRole('alert')).toBeFocused()
  await expectSound(page, 'Error: Forgot your password?')
  await page.getByLabel('E-mail address').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Send link' }).click()
  await expectSound(page, 'Check your mail')
})

test('the page of a verification link is accessible for a visitor, for another user, for the right user, and for a used link', async ({
  page,
  server,
  account,
  newAccount,
}) => {
  const link = await takeLink(server, account.email)
  await page.goto(link)
  await expectSound(page, 'Confirm your e-mail address')
  await (await newAccount()).signIn(page)
  await page.goto(link)
  await expect(page.getByText('This link belongs to another account.')).toBeVisible()
  await expectSound(page, 'Confirm your e-mail address')
  await page.getByRole('button', { name: 'Sign out now' }).click()
  await account.signIn(page)
  await page.goto(link)
  await expect(page.getByText(`Is ${account.email} your address?`)).toBeVisible()
  await expectSound(page, 'Confirm your e-mail address')
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await page.goto(link)
  await expectSound(page, 'Error: This link no longer works')
})
