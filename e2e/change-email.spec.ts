import { ageSessions } from './authenticator-app.ts'
import { changeEmail } from './forms.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

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
