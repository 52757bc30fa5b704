import { signIn } from './forms.ts'
import { expect, test } from './site.ts'
import { expectSound } from './soundness.ts'

test.use({ variables: { THROTTLE: 'on' } })

const tooMany = /^\s*Error: Too many attempts.* Try again in \d+ minutes, at \d\d:\d\d UTC\.\s*$/

test('after too many wrong passwords, the form rejects the right password and shows the waiting time', async ({
  page,
  account,
  request,
}) => {
  for (let attempts = 0; attempts < 10; attempts++) {
    const data = { username: account.email, password: `guess ${attempts}` }
    expect((await request.post('/login', { data })).status()).toBe(401)
  }
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
