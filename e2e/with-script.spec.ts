import { clickTwice } from './forms.ts'
import { expect, test } from './site.ts'

test('L7 the keyboard shows and hides a password, and submitting hides it', async ({ page, account }) => {
  await page.goto('/login')
  const password = page.getByLabel('Password', { exact: true })
  const status = page.getByRole('status')
  await password.fill(account.password)
  await page.keyboard.press('Tab')
  const show = page.getByRole('button', { name: 'Show password' })
  await expect(show).toBeFocused()
  await expect(show).toHaveAttribute('aria-pressed', 'false')

  await page.keyboard.press('Space')
  const hide = page.getByRole('button', { name: 'Hide password' })
  await expect(hide).toBeFocused()
  await expect(hide).toHaveAttribute('aria-pressed', 'true')
  await expect(password).toHaveAttribute('type', 'text')
  await expect(password).toHaveValue(account.password)
  await expect(status).toHaveText('Your password is visible')

  await page.keyboard.press('Enter')
  await expect(password).toHaveAttribute('type', 'password')
  await expect(status).toHaveText('Your password is hidden')

  await page.keyboard.press('Enter')
  await expect(password).toHaveAttribute('type', 'text')
  await page.evaluate('document.addEventListener("submit", (event) => event.preventDefault())')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(password).toHaveAttribute('type', 'password')
})

test('each password field has its own show button, and the button does not submit the form', async ({
  page,
}) => {
  await page.goto('/signup')
  await page.getByRole('button', { name: 'Show repeat password' }).click()
  await expect(page.getByLabel('Repeat password', { exact: true })).toHaveAttribute('type', 'text')
  await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('type', 'password')
  await expect(page).toHaveURL('/signup')
  await expect(page).toHaveTitle('Create an account – koa-authenticators')
})

test('the first press of Tab reaches the skip link', async ({ page }) => {
  await page.goto('/')
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to main content' })
  await expect(skip).toBeFocused()
  await expect(skip).toBeInViewport({ ratio: 1 })
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
})

test.describe('the clipboard', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

  test('the button copies the whole command, and shows “Copied” for two seconds', async ({ page }) => {
    await page.clock.install()
    await page.goto('/styleguide')
    const terminal = page.getByRole('group', { name: 'A command' })
    const copy = terminal.getByRole('button', { name: 'Copy: A command' })
    await copy.press('Enter')

    await expect(copy).toHaveText('Copied')
    await expect(page.getByRole('status')).toHaveText('Copied: A command')
    const lines = await terminal.locator('code').textContent()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${lines}\n`)

    await page.clock.runFor(2000)
    await expect(copy).toHaveText('Copy')
    await expect(page.getByRole('status')).toBeEmpty()
  })
})

test('on a phone, every section is in sight', async ({ page, account }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await account.signIn(page)
  await page.goto('/account/activity')
  for (const link of await page.getByRole('navigation', { name: 'Account' }).getByRole('link').all())
    await expect(link).toBeInViewport({ ratio: 1 })
})

test('a double click sends a form once', async ({ page }) => {
  await page.goto('/forgot')
  await page.evaluate(`document.addEventListener('submit', (event) => {
    document.title += event.defaultPrevented ? '' : '+'
    event.preventDefault()
  })`)
  await clickTwice(page, 'Send link')
  await expect(page).toHaveTitle('Forgot your password? – koa-authenticators+')
})
