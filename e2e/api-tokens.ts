import type { Page } from '@playwright/test'

/** Fills in the form for a new token, and sends it. */
export async function createToken(page: Page, name: string) {
  const field = page.getByLabel('Name', { exact: true })
  if (!(await field.isVisible())) await page.getByText('New token', { exact: true }).click()
  await field.fill(name)
  await page.getByRole('button', { name: 'Create token' }).click()
}
