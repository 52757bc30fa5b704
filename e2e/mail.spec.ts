import { takeLink } from './mails.ts'
import { watchReferrers } from './referrers.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

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
