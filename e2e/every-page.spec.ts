import { turnOnApp } from './authenticator-app.ts'
import { enterCode, signIn, signUp } from './forms.ts'
import { expect, test } from './site.ts'
import { expectAccessible, expectSound } from './soundness.ts'

test('home has no accessibility problem for a visitor, for a user, or while the database is unavailable', async ({
  page,
  account,
  outage,
}) => {
  await page.goto('/')
  await expectSound(page, 'Authentication for Koa, typed and composable')
  await account.signIn(page)
  await page.goto('/')
  await expect(page.getByRole('banner')).toContainText(account.name)
  await expectSound(page, 'Authentication for Koa, typed and composable')
  outage.begin()
  await page.goto('/')
  await expect(page.getByRole('banner')).not.toContainText(account.name)
  await expectSound(page, 'Authentication for Koa, typed and composable')
})

test('L7 sign-up is accessible when empty, with an error in every field, and with the address of another account', async ({
  page,
  account,
}) => {
  await page.goto('/signup')
  await expectSound(page, 'Create an account')
  await signUp(page, { name: '', email: 'ada@', password: 'short', confirmation: 'shorter' })
  await expectSound(page, 'Error: Create an account')
  await signUp(page, { ...account, confirmation: account.password })
  await expect(page.getByRole('alert')).toContainText('There is already an account')
  await expectSound(page, 'Error: Create an account')
})

test('sign-in is accessible when empty, with a notice, and with a wrong password', async ({
  page,
  account,
}) => {
  await page.goto('/login')
  await expectSound(page, 'Sign in')
  await page.goto('/account')
  await expect(page.getByText('Sign in to see that page.')).toBeVisible()
  await expectSound(page, 'Sign in')
  await signIn(page, { ...account, password: 'not the password' })
  await expectSound(page, 'Error: Sign in')
})

test('the code pages of the sign-in are accessible, also with errors', async ({ page, context, account }) => {
  await turnOnApp(page, account)
  await context.clearCookies()
  await page.goto('/login')
  await signIn(page, account)
  await expectSound(page, 'Enter your code')
  await enterCode(page, '000000')
  await expectSound(page, 'Error: Enter your code')
  await page.goto('/login/recovery-code')
  await expectSound(page, 'Enter a recovery code')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expectSound(page, 'Error: Enter a recovery code')
})

test('error pages are accessible for a visitor: 401, 404, 405, 413', async ({ page, account }) => {
  for (const [path, title] of [
    ['/me', 'Error: Sign in first'],
    ['/nowhere', 'Error: Page not found'],
    ['/users', 'Error: Page not found'],
  ] as const) {
    await page.goto(path)
    await expectSound(page, title)
  }
  await page.goto('/signup')
  await signUp(page, { ...account, name: 'x'.repeat(20_000), confirmation: account.password })
  await expectSound(page, 'Error: Request too large')
})

test('error pages are accessible for a user, and while the database is unavailable: 404, 503', async ({
  page,
  account,
  outage,
}) => {
  await account.signIn(page)
  await page.goto('/nowhere')
  await expect(page.getByRole('banner')).toContainText(account.name)
  await expectSound(page, 'Error: Page not found')
  outage.begin()
  await page.goto('/nowhere')
  await expect(
    page.getByText('We are having a problem and cannot show your account right now.'),
  ).toBeVisible()
  await expectSound(page, 'Error: Page not found')
  await page.goto('/account')
  await expectSound(page, 'Error: Temporarily unavailable')
})

test('pages are accessible with forced colours', async ({ page, account }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/signup')
  await signUp(page, { name: '', email: '', password: '', confirmation: '' })
  await expect(page.getByRole('alert')).toBeFocused()
  await expectAccessible(page, 'on the sign-up page')
  await account.signIn(page)
  for (const path of ['/', '/account/security']) {
    await page.goto(path)
    await expectAccessible(page, `on ${path}`)
  }
})
