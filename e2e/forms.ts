import type { Page } from '@playwright/test'

/** Fills in the sign-in form, and sends it. */
export async function signIn(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** What somebody types into the sign-up form. */
export interface Registration {
  readonly name: string
  readonly email: string
  readonly password: string
  readonly confirmation: string
}

/** Fills in the sign-up form, and sends it. */
export async function signUp(page: Page, { name, email, password, confirmation }: Registration) {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Password confirmation', { exact: true }).fill(confirmation)
  await page.getByRole('button', { name: 'Create account' }).click()
}
