import { createToken } from './api-tokens.ts'
import { ageSessions } from './authenticator-app.ts'
import { confirm } from './forms.ts'
import { expectNoOverlaps } from './overlaps.ts'
import { expect, test } from './site.ts'
import { expectAccessible, expectSound, expectToFit } from './soundness.ts'

test('the tokens page is accessible without tokens, with an error, with a new token, and with a notice', async ({
  page,
  account,
}) => {
  await account.signIn(page)
  await page.goto('/account/tokens')
  await expectSound(page, 'API tokens')
  await createToken(page, '')
  await expectSound(page, 'Error: API tokens')
  await createToken(page, 'T'.repeat(100))
  await expect(page.getByLabel('Token', { exact: true })).toBeVisible()
  await page.locator('summary', { hasText: 'Revoke' }).click()
  await expectSound(page, 'API tokens')
  await page.locator('summary', { hasText: 'Revoke' }).click()
  await confirm(page, { of: 'TTTT', button: 'Revoke' })
  await expect(page.getByText(/has been revoked\.$/)).toBeVisible()
  await expectSound(page, 'API tokens')
})

test('a user confirms their identity before creating a token', async ({ page, server, account }) => {
  await account.signIn(page)
  await page.goto('/account/tokens')
  await page.getByText('New token', { exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('Backup & restore')
  ageSessions(server)
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page).toHaveTitle('Confirm it is you – koa-authenticators')
  await expect(page.getByText('Before you create an API token')).toBeVisible()
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Thank you. You can continue now.')).toBeVisible()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Backup & restore')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByLabel('Token', { exact: true })).toBeVisible()

  ageSessions(server)
  await page.goto('/account/tokens')
  await page.getByRole('link', { name: 'New token' }).click()
  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page).toHaveURL('/account/tokens')
})

test('the tokens page fits and has no overlaps, with a fresh and with an old session', async ({
  page,
  server,
  account,
}) => {
  await account.signIn(page)
  for (const name of ['Deploy', 'T'.repeat(100)])
    expect((await page.request.post('/account/tokens', { data: { name } })).status()).toBe(201)
  await expectNoOverlaps(page, '/account/tokens')
  ageSessions(server)
  await expectNoOverlaps(page, '/account/tokens')

  // WCAG 2.2, 1.4.4, with every question of the page open.
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.reload()
  await page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
  await expectToFit(page, 360)
})

test('the tokens page is accessible with forced colours', async ({ page, account }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await account.signIn(page)
  await page.goto('/account/tokens')
  await expectAccessible(page, 'with forced colours')
})

test('the tokens page shows a command that calls the API', async ({ page, server, account }) => {
  await account.signIn(page)
  await page.goto('/account/tokens')
  await expect(page.locator('.terminal code')).toHaveText(
    `curl ${server.url}/me \\\n  -H "Authorization: Bearer $TOKEN"`,
  )
})
