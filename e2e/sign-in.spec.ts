import { signIn } from './forms.ts'
import { expect, test } from './site.ts'

const wrong = 'The e-mail address or password is wrong.'

test('a wrong password shows the form with the address again, and the right one signs in', async ({
  page,
  account,
}) => {
  await page.goto('/login')
  await expect(page.getByLabel('E-mail address')).toBeFocused()
  await signIn(page, { ...account, password: 'a microsecond of wire' })

  await expect(page).toHaveTitle('Error: Sign in – koa-authenticators')
  const summary = page.getByRole('alert')
  await expect(summary).toBeFocused()
  await expect(summary).toContainText(wrong)
  const address = page.getByLabel('E-mail address')
  await expect(address).toHaveValue(account.email)
  await expect(address).toHaveAccessibleDescription(`Error: ${wrong}`)
  await expect(page.getByLabel('Password', { exact: true })).toBeEmpty()

  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByLabel('Password', { exact: true }).press('Enter')
  await expect(page).toHaveURL('/account')
  await expect(page.getByRole('banner')).toContainText(account.name)
})

test('H3 a visitor sees why to sign in, and returns to the requested page with its query', async ({
  page,
  account,
}) => {
  const requested = '/account?view=a%20b&tag=%C3%BC&next=%2Fx'
  await page.goto(requested)

  await expect(page).toHaveURL(`/login?next=${encodeURIComponent(requested)}`)
  await expect(page.getByText('Sign in to see that page.')).toBeVisible()
  await signIn(page, { ...account, password: 'wrong at first' })
  await expect(page.getByRole('alert')).toContainText(wrong)
  await signIn(page, account)
  await expect(page).toHaveURL(requested)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Profile')
})

const elsewhere = ['https://example.org/account', '//example.org/account', '/\\example.org/account']

test('H2 sign-in does not redirect to another site', async ({ page, context, account }) => {
  for (const next of elsewhere) {
    await page.goto(`/login?next=${encodeURIComponent(next)}`)
    await signIn(page, account)
    await expect(page, next).toHaveURL('/account')
    await context.clearCookies()
  }
})

test('H2 sign-in with a modified form does not redirect to another site', async ({ page, account }) => {
  await page.goto('/login?next=/account')
  await page.locator('input[name="next"]').evaluate((input) => {
    input.setAttribute('value', '//example.org/account')
  })
  await signIn(page, account)
  await expect(page).toHaveURL('/account')
})

const day = 24 * 60 * 60

test('the session cookie lasts a day, or thirty days with "Keep me signed in", which stays checked after a wrong password', async ({
  page,
  context,
  account,
}) => {
  await page.goto('/login')
  await expectCookieFor(day)
  await context.clearCookies()
  await page.goto('/login')
  await page.getByLabel('Keep me signed in on this device').check()
  await signIn(page, { ...account, password: 'not the password' })
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByLabel('Keep me signed in on this device')).toBeChecked()
  await expectCookieFor(30 * day)

  async function expectCookieFor(seconds: number) {
    const before = Date.now() / 1000
    await signIn(page, account)
    await expect(page).toHaveURL('/account')
    const after = Date.now() / 1000
    const cookie = (await context.cookies()).find(({ name }) => name === 'session')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
    expect(cookie?.expires).toBeGreaterThanOrEqual(Math.floor(before + seconds))
    expect(cookie?.expires).toBeLessThanOrEqual(Math.ceil(after + seconds))
  }
})
