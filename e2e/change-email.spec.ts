import { ageSessions } from './authenticator-app.ts'
import { changeEmail, signIn, signOut } from './forms.ts'
import { takeLink } from './mails.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

test('Q8 Q10 a user changes the e-mail address, and signs in with the new one', async ({
  page,
  server,
  account,
}) => {
  const email = `new.${account.email}`
  await account.signIn(page)
  ageSessions(server)
  await page.goto('/account')
  await page.getByRole('link', { name: 'Change e-mail address' }).click()
  await changeEmail(page, { email, password: 'not the password' })
  await expect(page.getByRole('alert')).toBeFocused()
  await expect(page.getByLabel('New e-mail address')).toHaveValue(email)
  await changeEmail(page, { email, password: account.password })
  await expect(page).toHaveURL('/account')
  await expect(page.getByText(`We have sent a link to ${email}.`)).toBeVisible()
  await expect(page.getByRole('definition').filter({ hasText: 'Not changed yet.' })).toContainText(email)

  await page.goto(await takeLink(server, email))
  await expectSound(page, 'Confirm your e-mail address')
  await page.getByRole('button', { name: 'Confirm this address' }).click()
  await expect(page).toHaveURL('/account')
  await expect(page.getByRole('definition').filter({ hasText: email })).toBeVisible()
  await expect(page.getByText('Not changed yet.')).toHaveCount(0)

  await signOut(page)
  await page.goto('/login')
  await signIn(page, account)
  await expect(page.getByRole('alert')).toBeVisible()
  await signIn(page, { ...account, email })
  await expect(page).toHaveURL('/account')
})

test('the page to change the address, with and without errors, and the profile with a pending change are accessible', async ({
  page,
  server,
  account,
}) => {
  await account.signIn(page)
  ageSessions(server)
  await page.goto('/account/email')
  await expectSound(page, 'Change your e-mail address')
  await changeEmail(page, { email: 'nobody', password: '' })
  await expect(page.getByRole('alert').getByRole('link')).toHaveCount(2)
  await expectSound(page, 'Error: Change your e-mail address')
  const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.eu`
  await changeEmail(page, { email: longest, password: account.password })
  await expect(page.getByText('Not changed yet.')).toBeVisible()
  await expectSound(page, 'Profile')
})
