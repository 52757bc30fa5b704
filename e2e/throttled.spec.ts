import { turnOnApp } from './authenticator-app.ts'
import { enterCode, signIn, signOut } from './forms.ts'
import { test as base, expect } from './site.ts'
import { expectSound } from './soundness.ts'

/** `guess` sends wrong passwords from another client until the account is throttled. */
const test = base.extend<{ guess(email: string): Promise<void> }>({
  guess: ({ request }, use) =>
    use(async (username) => {
      for (let attempts = 0; attempts < 10; attempts++) {
        const response = await request.post('/login', { data: { username, password: `guess ${attempts}` } })
        expect(response.status()).toBe(401)
      }
      const refused = await request.post('/login', { data: { username, password: 'one more' } })
      expect(refused.status()).toBe(429)
    }),
})

test.use({ variables: { THROTTLE: 'on' } })
// One worker, because starting a server takes longer than these tests.
test.describe.configure({ mode: 'default' })

const tooMany = /^\s*Error: Too many attempts.* Try again in \d+ minutes, at \d\d:\d\d UTC\.\s*$/

test('after too many wrong passwords, the form rejects the right password and shows the waiting time', async ({
  page,
  account,
  guess,
}) => {
  await guess(account.email)
  await page.goto('/login')
  const answer = page.waitForResponse((response) => response.request().method() === 'POST')
  await signIn(page, account)

  expect((await answer).status()).toBe(429)
  expect(Number((await answer).headers()['retry-after'])).toBeGreaterThan(0)
  await expect(page.getByRole('alert')).toBeFocused()
  await expect(page.getByRole('alert')).toHaveText(tooMany)
  await expect(page.locator('[aria-invalid="true"]')).toHaveCount(0)
  await expect(page.getByLabel('E-mail address')).toHaveValue(account.email)
  await expectSound(page, 'Error: Sign in')
})

test('after too many wrong codes, the code form shows the waiting time', async ({
  page,
  context,
  account,
  request,
}) => {
  const { app } = await turnOnApp(page, account)
  await context.clearCookies()
  await page.goto('/login')
  await signIn(page, account)
  const { email: username, password } = account
  for (let attempts = 0; attempts < 10; attempts++)
    await request.post('/login', { data: { username, password, code: `00000${attempts}` } })
  await enterCode(page, app.nextCode())
  await expect(page.getByRole('alert')).toContainText(/Too many attempts.* Try again in \d+ minutes/)
  await expect(page.locator('[aria-invalid="true"]')).toHaveCount(0)
  await expectSound(page, 'Error: Enter your code')
})

test('D3 a user signs in from a known browser during an attack on the account', async ({
  page,
  account,
  guess,
}) => {
  await account.signIn(page)
  await page.goto('/account')
  await signOut(page)
  await expect(page.locator('body')).toHaveAttribute('data-user', 'visitor')
  await guess(account.email)

  await page.goto('/login')
  await signIn(page, account)
  await expect(page).toHaveURL('/account')
})
