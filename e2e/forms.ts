import type { Page } from '@playwright/test'
import type { VirtualAuthenticator } from './virtual-authenticator.ts'

/** Fills in the sign-in form, and sends it. */
export async function signIn(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Opens the menu of the user, and signs out. */
export async function signOut(page: Page) {
  const menu = page.getByRole('navigation', { name: 'User' })
  await menu.locator('summary').click()
  await menu.getByRole('button', { name: 'Sign out' }).click()
}

/** The values of the sign-up form. */
export interface Registration {
  readonly name: string
  readonly email: string
  readonly password: string
  readonly confirmation: string
}

/** Ticks that the recovery codes are stored, and leaves their page. */
export async function storeCodes(page: Page) {
  await page.getByLabel('I have stored these codes').check()
  await page.getByRole('button', { name: 'Done' }).click()
}

/** Fills in the sign-up form, and sends it. */
export async function signUp(page: Page, { name, email, password, confirmation }: Registration) {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Repeat password', { exact: true }).fill(confirmation)
  await page.getByRole('button', { name: 'Create account' }).click()
}

/** Fills in the form for a new password, and sends it. */
export async function changePassword(
  page: Page,
  { current, password, confirmation }: { current: string; password: string; confirmation: string },
) {
  await page.getByLabel('Current password', { exact: true }).fill(current)
  await page.getByLabel('New password', { exact: true }).fill(password)
  await page.getByLabel('Repeat new password', { exact: true }).fill(confirmation)
  await page.getByRole('button', { name: 'Change password' }).click()
}

/** Fills in the form for a new address, and sends it. */
export async function changeEmail(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('New e-mail address').fill(email)
  await enterPassword(page, password)
  await page.getByRole('button', { name: 'Send link' }).click()
}

/** Fills in the form of a reset link, and sends it. */
export async function chooseNewPassword(
  page: Page,
  { password, confirmation }: { password: string; confirmation: string },
) {
  await page.getByLabel('New password', { exact: true }).fill(password)
  await page.getByLabel('Repeat new password', { exact: true }).fill(confirmation)
  await page.getByRole('button', { name: 'Save new password' }).click()
}

/** Clicks a button in the list item that contains a text, and confirms the action. */
export async function confirm(page: Page, { of: text, button }: { of: string; button: string }) {
  const row = page.getByRole('listitem').filter({ hasText: text })
  await row.locator('summary', { hasText: button }).click()
  await row.getByRole('button', { name: `Yes, ${button.toLowerCase()}` }).click()
}

/** Clicks "Sign out everywhere else", and confirms the action. */
export async function signOutEverywhereElse(page: Page) {
  await page.getByText('Sign out everywhere else', { exact: true }).click()
  await page.getByRole('button', { name: 'Yes, sign out everywhere else' }).click()
}

/** Fills in the form that closes the account, and sends it. */
export async function closeAccount(
  page: Page,
  { password, isConfirmed }: { password: string; isConfirmed: boolean },
) {
  await enterPassword(page, password)
  await page.getByLabel('Permanently delete my account').setChecked(isConfirmed)
  await page.getByRole('button', { name: 'Close account' }).click()
}

/** Fills in the current password if the form asks for it. The form needs it if the last sign-in or confirmation is over ten minutes old. */
async function enterPassword(page: Page, password: string) {
  const field = page.getByLabel('Current password', { exact: true })
  if (await field.isVisible()) await field.fill(password)
}

/** Fills in a form for a code of the authenticator app, and sends it. */
export async function enterCode(page: Page, code: string) {
  const field = page.getByLabel('Code', { exact: true })
  await field.fill(code)
  await field.press('Enter')
}

/** Adds a passkey on the security page. */
export async function addPasskey(page: Page, authenticator: VirtualAuthenticator, name: string) {
  await authenticator.setPresent(true)
  await page.goto('/account/security')
  await page.getByLabel('Name of the new passkey').fill(name)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText(`The passkey “${name}” has been added.`).waitFor()
  await authenticator.setPresent(false)
}

/** Clicks twice in one task, because on a busy machine two clicks may be further apart than those of a double click. */
export function clickTwice(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name }).evaluate((button) => {
    button.click()
    button.click()
  })
}
