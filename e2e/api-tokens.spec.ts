import { createToken } from './api-tokens.ts'
import { confirm } from './forms.ts'
import { expect, test } from './site.ts'

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

test.describe('without script', () => {
  test.use({ javaScriptEnabled: false })

  test('a user creates and revokes a token', async ({ page, account }) => {
    await account.signIn(page)
    await page.goto('/account/tokens')
    await createToken(page, 'Backup script')
    await expect(page.getByLabel('Token', { exact: true })).toHaveValue(/^kauth_[\w-]{49}$/)
    await page.locator('summary', { hasText: 'Backup script' }).click()
    await page.getByRole('link', { name: 'Cancel' }).filter({ visible: true }).click()
    await expect(page.getByRole('button', { name: 'Yes, revoke' })).toBeHidden()
    await confirm(page, { of: 'Backup script', button: 'Revoke' })
    await expect(page.getByText('No API tokens')).toBeVisible()
  })
})
