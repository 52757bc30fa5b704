import { chooseNewPassword } from './forms.ts'
import { watchReferrers } from './referrers.ts'
import { takeResetLink } from './reset-link.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

// Chromium sends no `Sec-Fetch-Site` over plain HTTP, except to the local host.
test('C5 a reset link works over plain HTTP on another host than localhost', async ({
  browser,
  server,
  account,
}) => {
  const link = new URL(await takeResetLink(server, account.email))
  const token = link.searchParams.get('token') ?? 'no token'
  link.hostname = 'site.test'
  const page = await browser.newPage()
  const expectNoTokenInReferrers = watchReferrers(page, token)
  await page.goto(link.href)
  await chooseNewPassword(page, { password: 'short', confirmation: 'shorter' })
  await expect(page).toHaveTitle('Error: Choose a new password – koa-authenticators')
  const password = 'a microsecond of wire'
  await chooseNewPassword(page, { password, confirmation: password })
  await expect(page.getByText('Your password has been changed.')).toBeVisible()
  await expectNoTokenInReferrers()
  await page.close()
})

test('the page of a reset link is accessible, also with an error in every field and with an invalid link', async ({
  page,
  server,
  account,
}) => {
  const link = await takeResetLink(server, account.email)
  await page.goto(link)
  await expectSound(page, 'Choose a new password')
  await chooseNewPassword(page, { password: 'short', confirmation: 'shorter' })
  await expect(page.getByRole('alert').getByRole('link')).toHaveCount(2)
  await expectSound(page, 'Error: Choose a new password')
  await takeResetLink(server, account.email)
  await page.goto(link)
  await expectSound(page, 'Error: This link no longer works')
})
